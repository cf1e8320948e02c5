/* SPDX-License-Identifier: MIT */
/* From options and a job file to an experiment. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "cli/compare.h"
#include "core/error.h"
#include "core/quote.h"
#include "core/util.h"

#define MOST_BLOCKS 20 /* of --until-decided */

/* ------------------------------------------------------------------------------------------------
 * The command line
 */

static int add_option(struct plan_spec *s, const char *key, const char *value, struct spur_error *e)
{
    char where[64];

    snprintf(where, sizeof(where), "--%s", key);
    return plan_spec_add_option(s, key, value, where, e);
}

static int add_set(struct plan_spec *s, const char *text, struct spur_error *e)
{
    size_t length = strcspn(text, "=");
    _cleanup_free_ char *key = NULL;

    if (!length || !text[length])
        return error_spur(e, SPUR_CODE_USAGE, "option", "--set: '%s' is not KEY=VALUES", text);
    key = strndup(text, length);
    if (!key)
        return error_errno(e, ENOMEM, "strndup", "--set");
    if (compare_keys.find(NULL, key).kind != PLAN_KEY_SETTING) {
        error_spur(e, SPUR_CODE_USAGE, "option", "--set: no path has a setting '%s'", key);
        error_remedy(e, "spur list shows the settings of each path");
        return -EINVAL;
    }
    return plan_spec_add_option(s, key, text + length + 1, "--set", e);
}

static int add_flags(struct plan_spec *s, const struct compare_options *o, struct spur_error *e)
{
    int r = o->unaligned ? add_option(s, "unaligned", "yes", e) : 0;

    if (!r && o->overwrite)
        r = add_option(s, "overwrite", "yes", e);
    if (!r && o->device_ok)
        r = add_option(s, "device-ok", "yes", e);
    return r;
}

static int add_texts(struct plan_spec *s, const struct option_texts *texts, const char *where,
                     int (*add)(struct plan_spec *s, const char *text, const char *where, struct spur_error *e),
                     struct spur_error *e)
{
    int r = 0;

    for (size_t i = 0; !r && i < texts->n_items; i++)
        r = add(s, texts->items[i], where, e);
    return r;
}

static int add_command_line(struct plan_spec *s, const struct compare_options *o, struct spur_error *e)
{
    int r = add_texts(s, &o->arms, "--arm", plan_spec_add_arm, e);

    if (!r)
        r = add_texts(s, &o->axes, "--axis", plan_spec_add_axis, e);
    if (!r)
        r = add_texts(s, &o->prepares, "--prepare", plan_spec_add_prepare, e);
    for (size_t i = 0; !r && i < o->files.n_items; i++)
        r = add_option(s, "file", o->files.items[i], e);
    for (size_t i = 0; !r && compare_value_key(i); i++)
        if (o->values[i])
            r = add_option(s, compare_value_key(i), o->values[i], e);
    for (size_t i = 0; !r && i < o->settings.n_items; i++)
        r = add_set(s, o->settings.items[i], e);
    return r ? r : add_flags(s, o, e);
}

/* ------------------------------------------------------------------------------------------------
 * The job file
 */

struct job_options {
    struct compare_options *o;
    const struct option_result *given;
    char **kept; /* texts that the options point to */
    size_t n_kept;
};

/* Options of the plan that a job file may hold; those about files and this run are the command line's. */
static bool may_hold(const char *key)
{
    static const char *const keys[] = {"baseline", "blocks", "aa", "until-decided", "region", "seed",
                                       "limit",    "quick",  NULL};

    for (size_t i = 0; keys[i]; i++)
        if (!strcmp(keys[i], key))
            return true;
    return false;
}

static int job_option(void *context, const char *key, const char *value, const char *where, struct spur_error *e)
{
    struct job_options *j = context;
    struct spur_error why = {0};
    char **grown;
    char *text;

    if (!may_hold(key)) {
        error_spur(e, SPUR_CODE_USAGE, "job file", "%s: unknown key", where);
        error_remedy(e, "spur help compare lists the options; --results, --resume and the like stand on the command "
                        "line only");
        return -EINVAL;
    }
    if (option_given(j->given, key))
        return 0; /* the command line goes before */
    text = strdup(value);
    grown = text ? realloc(j->kept, (j->n_kept + 1) * sizeof(*grown)) : NULL;
    if (!grown) {
        free(text);
        return error_errno(e, ENOMEM, "realloc", "%s", where);
    }
    j->kept = grown;
    j->kept[j->n_kept++] = text;
    if (option_set(compare_rows, key, text, j->o, &why) < 0) {
        size_t length = strlen(key) + 2; /* "--blocks: ", where the place names the key already */
        bool named = !strncmp(why.detail, "--", 2) && !strncmp(why.detail + 2, key, length - 2);

        error_spur(e, SPUR_CODE_USAGE, "job file", "%s: %s", where, why.detail + (named ? length + 2 : 0));
        error_remedy(e, "%s", why.remedy);
        return -EINVAL;
    }
    if (!strcmp(key, "seed"))
        j->o->seed_given = true;
    return 0;
}

/* ------------------------------------------------------------------------------------------------ */

static int draw_seed(struct compare_options *o, struct spur_error *e)
{
    if (o->seed_given)
        return 0;
    if (getrandom(&o->seed, sizeof(o->seed), 0) != sizeof(o->seed))
        return error_errno(e, errno, "getrandom", "drawing a seed");
    o->seed &= INT64_MAX;
    return 0;
}

static void fill_spec(struct plan_spec *s, const struct compare_options *o)
{
    s->baseline = o->baseline;
    s->aa = o->aa;
    s->until_decided = o->until_decided;
    s->quick = o->quick;
    s->n_blocks = o->until_decided ? MOST_BLOCKS : (uint32_t)o->n_blocks;
    s->region = (enum experiment_region)o->region;
    s->seed = o->seed;
    s->limit_ns = o->limit_ns;
}

static int make_spec(struct plan_spec *s, struct compare_options *o, const char *job_file, struct job_options *j,
                     struct spur_error *e)
{
    int r = add_command_line(s, o, e);

    if (!r && job_file) {
        s->job_file = job_file;
        r = plan_job_read(job_file, &compare_keys, s, job_option, j, e);
        if (r < 0 && !e->remedy[0] && (e->source == SPUR_SOURCE_ERRNO || strstr(e->detail, ": control byte")))
            error_remedy(e, "a job file is named here; files to measure are named with --file");
    }
    if (!r && o->quick)
        r = compare_quick(s, option_given(j->given, "quick"), e);
    if (!r)
        r = compare_code_check(s, o, e);
    if (!r)
        r = draw_seed(o, e);
    return r;
}

bool compare_has_plan(const struct compare_options *o, const struct option_result *given)
{
    static const char *const others[] = {"resume",    "limit", "html",       "dry-run",
                                         "write-job", "quiet", "allow-code", NULL};

    if (given->n_arguments)
        return true;
    for (size_t i = 0; compare_rows[i].name; i++) {
        bool is_other = false;

        for (size_t k = 0; others[k]; k++)
            is_other |= !strcmp(others[k], compare_rows[i].name);
        if (!is_other && option_given(given, compare_rows[i].name))
            return true;
    }
    return false;
}

int compare_plan(struct compare_options *o, const struct option_result *given, struct plan_spec *s,
                 struct experiment *ret, struct spur_error *e)
{
    struct job_options j = {.o = o, .given = given};
    _cleanup_free_ char *command = NULL;
    int r;

    o->seed_given = option_given(given, "seed");
    r = make_spec(s, o, given->n_arguments ? given->arguments[0] : NULL, &j, e);
    if (!r) {
        fill_spec(s, o);
        command = compare_command_text(o->seed, o->seed_given);
        s->command = command;
        r = plan_expand(s, &compare_keys, ret, e);
    }
    if (!r)
        ret->quick &= compare_quick_is_short(ret);
    s->command = s->baseline = NULL;
    for (size_t i = 0; i < j.n_kept; i++)
        free(j.kept[i]);
    free(j.kept);
    if (o->baseline && !option_given(given, "baseline"))
        o->baseline = NULL; /* it pointed into what was freed */
    return r;
}

/* Where @key, as an option or a setting, stands in @detail; NULL: nowhere. */
static const char *find_key(const char *detail, const char *key)
{
    size_t length = strlen(key);

    for (const char *at = detail; (at = strstr(at, key)); at += length) {
        bool option = at - detail >= 2 && !strncmp(at - 2, "--", 2) && strchr(" :;", at[length]);

        if (option || (at > detail && at[-1] == ' ' && at[length] == '='))
            return at;
    }
    return NULL;
}

static void look_in(const struct plan_item *items, size_t n, const struct spur_error *e, const struct plan_item **found)
{
    const char *first = *found ? find_key(e->detail, (*found)->key) : NULL;

    for (size_t i = 0; i < n; i++) {
        const char *at = strncmp(items[i].where, "--", 2) ? find_key(e->detail, items[i].key) : NULL;

        if (!at || (first && at >= first))
            continue;
        first = at;
        *found = &items[i];
    }
}

void compare_plan_place(const struct plan_spec *s, struct spur_error *e)
{
    const struct plan_item *found = NULL;
    char lead[100];

    if (!s->job_file || strncmp(e->detail, "arm ", 4))
        return;
    for (size_t i = 0; i < s->n_arms; i++) {
        snprintf(lead, sizeof(lead), "arm %s can run in no cell: ", s->arms[i].name);
        if (!strncmp(e->detail, lead, strlen(lead)))
            look_in(s->arms[i].items, s->arms[i].n_items, e, &found);
    }
    look_in(s->items, s->n_items, e, &found);
    look_in(s->axes, s->n_axes, e, &found);
    if (found)
        error_reword(e, "%s: %s", found->where, e->detail);
}

/* ------------------------------------------------------------------------------------------------
 * The command that repeats it
 */

/* Options that say where things go, not what is run. */
static bool is_about_output(const char *word, bool *ret_takes_value)
{
    static const char *const names[] = {"--results", "--html", "--resume", "--quiet", NULL};

    for (size_t i = 0; names[i]; i++) {
        size_t length = strlen(names[i]);

        if (strncmp(word, names[i], length) || (word[length] && word[length] != '='))
            continue;
        *ret_takes_value = !word[length] && strcmp(names[i], "--quiet");
        return true;
    }
    return false;
}

/* This process's own words; ends with an empty one. NULL: they cannot be read. */
static char *own_words(size_t *ret_length)
{
    FILE *f = fopen("/proc/self/cmdline", "re");
    char *text = NULL;
    size_t size = 0;
    FILE *out;
    int c;

    if (!f)
        return NULL;
    out = open_memstream(&text, &size);
    while (out && (c = getc(f)) != EOF)
        putc(c, out);
    fclose(f);
    if (!out || fclose(out) == EOF)
        return NULL;
    *ret_length = size;
    return text;
}

/* @all: also the options that say where things go. */
static void put_words(FILE *out, const char *words, size_t length, bool all)
{
    bool skip = false, takes_value = false;

    fputs("spur", out);
    for (size_t at = strlen(words) + 1; at < length; at += strlen(words + at) + 1) {
        _cleanup_free_ char *word = quote_word(words + at);

        if (skip) {
            skip = false;
            continue;
        }
        if (!all && is_about_output(words + at, &takes_value)) {
            skip = takes_value;
            continue;
        }
        fprintf(out, " %s", word ? word : "");
    }
}

/* @for_plan: what repeats the plan, with @seed where none was given; else all words as they are. */
static char *command_text(bool for_plan, bool with_seed, uint64_t seed)
{
    size_t length = 0, size = 0;
    _cleanup_free_ char *words = own_words(&length);
    char *text = NULL;
    FILE *out = words ? open_memstream(&text, &size) : NULL;

    if (!out)
        return NULL;
    put_words(out, words, length, !for_plan);
    if (with_seed)
        fprintf(out, " --seed %llu", (unsigned long long)seed);
    return fclose(out) == EOF ? NULL : text;
}

char *compare_command_text(uint64_t seed, bool seed_given)
{
    return command_text(true, !seed_given, seed);
}

char *compare_command_given(void)
{
    return command_text(false, false, 0);
}
