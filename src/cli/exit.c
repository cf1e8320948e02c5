/* SPDX-License-Identifier: MIT */
#include "cli/exit.h"

#include <stdio.h>
#include <string.h>

#include "core/error.h"
#include "core/util.h"

static const struct exit_row rows[] = {
    {EXIT_OK, "Done; everything that was asked for has figures."},
    {EXIT_FAILED, "An I/O error, a failed verification, a crashed or hung worker, or figures that are missing."},
    {EXIT_USAGE, "Usage: an unknown or conflicting option, a value out of range, a depth that the path cannot have."},
    {EXIT_REFUSED,
     "Refused: the road asked for is not there, a foreign file would be written, holes, an unsafe target."},
    {EXIT_NOT_DIRECT, "doctor: it works, but not on the direct road."},
    {EXIT_INTERRUPTED, "Interrupted by SIGINT; partial results were kept."},
    {EXIT_TERMINATED, "Ended by SIGTERM; partial results were kept."},
};

const struct exit_row *exit_row(size_t index)
{
    return index < ARRAY_SIZE(rows) ? &rows[index] : NULL;
}

enum exit_code exit_code_of(const struct spur_error *e)
{
    if (e->source == SPUR_SOURCE_SPUR && e->code == SPUR_CODE_USAGE)
        return EXIT_USAGE;
    return error_is_refusal(e) ? EXIT_REFUSED : EXIT_FAILED;
}

void exit_escape(const char *text, char *ret_text, size_t size)
{
    size_t n = 0;

    for (const char *p = text; *p && n + 5 < size; p++) {
        unsigned char c = (unsigned char)*p;

        if (c == '\n')
            n += (size_t)snprintf(ret_text + n, size - n, "\\n");
        else if (c < 0x20 || c == 0x7f)
            n += (size_t)snprintf(ret_text + n, size - n, "\\x%02x", c);
        else
            ret_text[n++] = *p;
    }
    ret_text[n] = 0;
}

void exit_message(const char *command, const struct spur_error *e, char *ret_text, size_t size)
{
    bool has_call = e->source != SPUR_SOURCE_SPUR && e->operation[0];
    char line[1200];

    snprintf(line, sizeof(line), "spur%s%s: %s%s%s%s%s%s", command && *command ? " " : "", command ? command : "",
             e->detail[0] ? e->detail : "failed without a reason", has_call ? " (" : "", has_call ? e->operation : "",
             has_call ? ")" : "", e->remedy[0] ? "; " : "", e->remedy);
    exit_escape(line, ret_text, size);
}

enum exit_code exit_report(const char *command, const struct spur_error *e)
{
    char line[2400];

    exit_message(command, e, line, sizeof(line));
    fprintf(stderr, "%s\n", line);
    return exit_code_of(e);
}
