/* SPDX-License-Identifier: MIT */
#include "worker/refer.h"

#include <stdio.h>
#include <string.h>

#include "core/error.h"
#include "core/fit.h"
#include "core/quote.h"
#include "core/util.h"

void refer_to(struct spur_error *e, const char *check, const char *file)
{
    refer_to_config(e, check, file, NULL);
}

void refer_to_config(struct spur_error *e, const char *check, const char *file, const char *json)
{
    size_t used = strlen(e->remedy), room = sizeof(e->remedy);
    _cleanup_free_ char *name = quote_word(file);
    _cleanup_free_ char *config = json ? quote_word(json) : NULL;
    char words[sizeof(e->remedy)];
    int n = snprintf(words, sizeof(words), "%s%s%sspur doctor --check %s %s says more",
                     config ? "CUFILE_ENV_PATH_JSON=" : "", config ? config : "", config ? " " : "", check,
                     name ? name : "FILE");

    if (strstr(e->remedy, "spur doctor --check"))
        return;
    if (n < 0 || used + 2 + (size_t)n >= room)
        n = snprintf(words, sizeof(words), "%sspur doctor --check %s FILE says more",
                     config ? "CUFILE_ENV_PATH_JSON=FILE " : "", check);
    if (used + 2 + (size_t)n >= room) /* what to read is worth more than the end of a long remedy */
        fit_text(e->remedy, room - (size_t)n - 2);
    used = strlen(e->remedy);
    snprintf(e->remedy + used, room - used, "%s%s", used ? "; " : "", words);
}

const char *refer_check(const struct spur_error *why)
{
    static const struct {
        int code;
        const char *check;
    } rows[] = {{-22, "cufile-keys"},
                {5001, "nvidia-fs"},
                {5004, "nvidia-fs-version"},
                {5005, "nvidia-fs"},
                {5007, "p2pdma"},
                {5008, "mount"},
                {5009, "gpu"},
                {5010, "nvidia-fs"},
                {5011, "gpu"},
                {5016, "bar"},
                {5018, "file"},
                {5020, "odirect"},
                {5025, "nvidia-fs-nodes"},
                {5027, "udev"},
                {5029, "gpu"},
                {5033, "driver"},
                {5034, "cufile-denylist"},
                {5036, "bar"},
                {5038, "cufile-parallel"}};

    if (why->source == SPUR_SOURCE_CUDA)
        return "gpu";
    if (why->source == SPUR_SOURCE_ERRNO)
        return strstr(why->detail, "cuda") ? "gpu" : "library";
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        if (why->source == SPUR_SOURCE_CUFILE && rows[i].code == why->code)
            return rows[i].check;
    return "nvidia-fs";
}

void refer_refusal(struct spur_error *e, const char *file)
{
    if (e && e->source != SPUR_SOURCE_SPUR && error_is_refusal(e))
        refer_to(e, refer_check(e), file);
}
