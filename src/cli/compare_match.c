/* SPDX-License-Identifier: MIT */
/* --match inflight[=COUNT] */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/compare.h"
#include "core/error.h"
#include "core/units.h"
#include "sweep/match.h"

/* NaN: without a number. */
static int parse(const char *text, double *ret, struct spur_error *e)
{
    static const char word[] = "inflight";
    struct spur_error why;
    uint64_t count;
    size_t length = strlen(word);

    *ret = NAN;
    if (!strcmp(text, word))
        return 0;
    if (!strncmp(text, word, length) && text[length] == '=' && !units_parse_count(text + length + 1, &count, &why) &&
        count > 0 && count <= MATCH_HIGHEST) {
        *ret = (double)count;
        return 0;
    }
    error_spur(e, SPUR_CODE_USAGE, "option", "--match: '%.100s' is neither inflight nor inflight=1..%d", text,
               MATCH_HIGHEST);
    error_remedy(e, "give --match inflight, or --match inflight=COUNT");
    return -EINVAL;
}

static void print_line(void *context, const char *line)
{
    (void)context;
    fprintf(stderr, "%s\n", line);
}

/* What an arm can do was judged with other settings. */
static int check_again(struct experiment *x, struct sweep_pair **pairs, struct spur_error *e)
{
    int r;

    sweep_pairs_free(*pairs, x->n_cells * x->n_arms);
    *pairs = NULL;
    r = compare_jobs(x, pairs, e);
    return r ? r : sweep_check(x, *pairs, e);
}

int compare_match(const struct compare_options *o, struct experiment *x, struct sweep_pair **pairs,
                  struct spur_error *e)
{
    struct match_options m = {.may_write = !o->dry_run && !o->write_job, .said = o->quiet ? NULL : print_line};
    int r = parse(o->match, &m.target, e);

    if (!r)
        r = match_arms(x, *pairs, &m, e);
    return r ? r : check_again(x, pairs, e);
}
