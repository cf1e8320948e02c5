/* SPDX-License-Identifier: MIT */
/* What checks say: findings, facts and conclusions. */
#include <stdarg.h>

#include "core/fit.h"
#include "core/quote.h"
#include "doctor/check.h"
#include "worker/job.h"

const char *severity_name(enum severity s)
{
    static const char *const names[] = {"fail", "warn", "note", "unknown", "pass"};

    return names[s];
}

void conclude(struct conclusion *c, enum answer is, const char *why, ...)
{
    va_list ap;

    if (c->is == ANSWER_NO || is == ANSWER_UNKNOWN || c->is == is)
        return;
    c->is = is;
    va_start(ap, why);
    fit_vprint(c->why, sizeof(c->why), why, ap);
    va_end(ap);
}

json_t *say(struct doctor *d, enum severity severity, const char *where, const char *found, ...)
{
    char text[1200];
    json_t *one;
    va_list ap;

    va_start(ap, found);
    vsnprintf(text, sizeof(text), found, ap);
    va_end(ap);
    one = json_pack("{s:s, s:o, s:s, s:o, s:o, s:s, s:s?}", "check", d->check->name, "file",
                    d->file ? json_filename(d->file->name) : json_null(), "severity", severity_name(severity), "where",
                    json_filename(where), "found", json_filename(text), "why", d->check->why, "remedy",
                    severity < SEVERITY_UNKNOWN ? d->check->remedy : NULL);
    json_array_append_new(d->findings, one);
    return one;
}

void remedy(json_t *finding, const char *text, ...)
{
    char words[1200];
    va_list ap;

    va_start(ap, text);
    vsnprintf(words, sizeof(words), text, ap);
    va_end(ap);
    json_object_set_new(finding, "remedy", *words ? json_filename(words) : json_null());
}

void remedy_of(json_t *finding, const char *before, const char *name, const char *after)
{
    _cleanup_free_ char *word = quote_word(name);

    remedy(finding, "%s%s%s", before, word ? word : "NAME", after);
}

void fact(struct doctor *d, const char *key, json_t *value)
{
    json_t *all = d->file ? d->file->seen : d->seen;
    json_t *mine = json_object_get(all, d->check->name);

    if (!mine) {
        mine = json_object();
        json_object_set_new(all, d->check->name, mine);
    }
    json_object_set_new(mine, key, value ? value : json_null());
}

void fact_text(struct doctor *d, const char *key, const char *text)
{
    fact(d, key, text ? json_filename(text) : NULL);
}

void fact_number(struct doctor *d, const char *key, uint64_t value)
{
    fact(d, key, value <= INT64_MAX ? json_integer((json_int_t)value) : NULL);
}
