/* SPDX-License-Identifier: MIT */
/* What must be read before any figure. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/units.h"
#include "core/util.h"
#include "report/analysis_parts.h"
#include "report/sentences.h"

#define NAMED_MAX 3 /* of many alike */

typedef void warning_fn(FILE *out, const struct analysis *a); /* writes nothing: nothing to warn of */

/* ------------------------------------------------------------------------------------------------
 * What kind of experiment it is
 */

static void warn_biased(FILE *out, const struct analysis *a)
{
    size_t n = 0;

    for (size_t i = 0; i < a->n_aa; i++) {
        enum stats_verdict v = a->aa[i].metric[METRIC_RATE].verdict;

        n += v == VERDICT_BETTER || v == VERDICT_WORSE;
    }
    if (!a->harness_biased)
        return;
    fputs("harness biased: two copies of ", out);
    words_arm(out, a, a->x->baseline);
    fprintf(out, " differ in %zu of ", n);
    words_count(out, a->n_aa, "cell", "cells");
    fputs("; no other verdict here can be trusted", out);
}

static void warn_simulated(FILE *out, const struct analysis *a)
{
    if (a->simulated)
        fputs("simulated: what answered was a model or a test suite's driver; no figure is a real machine's", out);
}

static void warn_emulated(FILE *out, const struct analysis *a)
{
    if (a->emulated)
        fputs("emulated: the GPU was emulated in host memory; no figure is a GPU's", out);
}

#define QUICK_WINDOW_S 2.0 /* below it there is no CPU figure of the machine either */

/* Of trials that have figures; 0 where none has. */
static double longest_window(const struct analysis *a)
{
    double longest = 0;

    for (size_t i = 0; i < a->n_trials; i++)
        if (analysis_has_figures(&a->trials[i]) && a->trials[i].window_s > longest)
            longest = a->trials[i].window_s;
    return longest;
}

static void warn_quick(FILE *out, const struct analysis *a)
{
    if (!a->quick)
        return;
    fputs("quick: for trying out", out);
    if (longest_window(a) < QUICK_WINDOW_S)
        fputs("; the windows were short, figures are rough", out);
    for (size_t i = 0; i < a->x->n_axes; i++) {
        const struct experiment_axis *axis = &a->x->axes[i];

        if (!axis->n_left_out)
            continue;
        fprintf(out, "; %u of %zu values of ", axis->n_left_out, axis->n_left_out + axis->n_values);
        words_clean(out, axis->key);
        fputs(" were left out", out);
    }
}

static void warn_unverified(FILE *out, const struct analysis *a)
{
    size_t n = 0, n_off = 0, n_ok = 0;

    for (size_t i = 0; i < a->n_trials; i++) {
        const struct store_trial *t = &a->trials[i];

        if (!analysis_has_figures(t))
            continue;
        n_ok++;
        n += strcmp(t->verify, "ok") != 0;
        n_off += !strcmp(t->verify, "off");
    }
    if (!n)
        return;
    fprintf(out, "unverified: in %zu of ", n);
    words_count(out, n_ok, "trial", "trials");
    fprintf(out, " no byte was checked%s", n_off == n ? " (--verify off)" : "");
}

static bool is_external(const struct analysis *a, uint32_t arm)
{
    for (uint32_t cell = 0; cell < a->x->n_cells; cell++)
        if (!strcmp(analysis_arm_cell(a, cell, arm)->verify, "unverified"))
            return true;
    return false;
}

static void warn_external(FILE *out, const struct analysis *a)
{
    unsigned n = 0;

    for (uint32_t arm = 0; arm < a->x->n_arms; arm++) {
        if (!is_external(a, arm))
            continue;
        fputs(n++ ? ", " : "external: another program ran the trials of ", out);
        words_clean(out, a->x->arms[arm].name);
    }
    if (n)
        fputs("; its figures are its own, and unverified", out);
}

/* ------------------------------------------------------------------------------------------------
 * How far it came
 */

static size_t count_done(const struct analysis *a)
{
    size_t n = 0;

    for (size_t i = 0; i < a->n_trials; i++)
        n += a->trials[i].status != TRIAL_INTERRUPTED;
    return n;
}

static void warn_unfinished(FILE *out, const struct analysis *a)
{
    if (a->finished || count_done(a) == a->x->n_rows)
        return;
    if (a->interrupted)
        fputs("interrupted: ", out);
    else if (a->limited)
        fputs("limit of time reached: ", out); /* a resumed experiment's is not the plan's */
    else
        fputs("not finished: ", out);
    fprintf(out, "%zu of ", count_done(a));
    words_count(out, a->x->n_rows, "trial", "trials");
    fputs(a->x->until_decided ? " planned at most" : " planned", out);
    fputs(a->interrupted || a->limited ? " were run; spur compare --resume goes on"
                                       : " were run: it is still running, was killed, or ended by an error",
          out);
}

static bool is_look(uint32_t n_blocks)
{
    return n_blocks == 5 || n_blocks == 10 || n_blocks == 20;
}

static void warn_look(FILE *out, const struct analysis *a)
{
    if (!a->x->until_decided || a->finished || a->n_blocks_done < STATS_MIN_BLOCKS || is_look(a->n_blocks_done))
        return;
    fprintf(out, "between looks: the plan judges after 5, 10 and 20 blocks; these verdicts are of %u",
            a->n_blocks_done);
}

static void warn_blocks(FILE *out, const struct analysis *a)
{
    if (!a->n_trials || a->n_blocks_done >= STATS_MIN_BLOCKS)
        return;
    fprintf(out, "fewer than %u blocks: ", STATS_MIN_BLOCKS);
    words_count(out, a->n_blocks_done, "block is", "blocks are");
    fputs(" complete; without more no verdict is possible", out);
}

/* ------------------------------------------------------------------------------------------------
 * What is odd among the figures
 */

static void warn_drift(FILE *out, const struct analysis *a)
{
    const struct stats_drift *d = &a->drift;
    char change[WORDS_RATIO];

    if (!d->known || !d->is_drift)
        return;
    fprintf(out, "drift: over the experiment the rate of all arms changed to %sx ", words_ratio(d->change, change));
    words_interval(out, d->low, d->high);
    fputs(" of what it was (ratios are taken within a block and hardly suffer; rates do)", out);
}

static void put_place(FILE *out, const struct analysis *a, uint32_t row)
{
    const struct experiment_row *r = &a->x->rows[row];

    words_arm(out, a, r->arm);
    fprintf(out, " in block %u", r->block + 1);
    if (a->x->n_axes) {
        fputs(", ", out);
        words_clean(out, a->x->cells[r->cell].label);
    }
}

static void warn_outliers(FILE *out, const struct analysis *a)
{
    char value[UNITS_TEXT], center[UNITS_TEXT];

    if (!a->n_outliers)
        return;
    words_count(out, a->n_outliers, "outlier, kept: ", "outliers, kept: ");
    for (size_t i = 0; i < a->n_outliers && i < NAMED_MAX; i++) {
        fputs(i ? "; " : "", out);
        put_place(out, a, a->outliers[i].row);
        fprintf(out, " (%s, its mean is %s)", units_format_rate(a->outliers[i].value, value),
                units_format_rate(a->outliers[i].center, center));
    }
    fputs(a->n_outliers > NAMED_MAX ? "; ..." : "", out);
}

/* ------------------------------------------------------------------------------------------------
 * What has no figures
 */

static void warn_without(FILE *out, const struct analysis *a)
{
    const struct store_trial *first = NULL;
    size_t n_refused = 0;

    if (!a->n_without_figures)
        return;
    for (size_t i = 0; i < a->n_trials; i++) {
        const struct store_trial *t = &a->trials[i];

        if (t->status == TRIAL_INTERRUPTED || analysis_has_figures(t))
            continue;
        first = first ? first : t;
        n_refused += t->status == TRIAL_REFUSED;
    }
    fprintf(out, "%zu of ", a->n_without_figures);
    words_count(out, count_done(a), "trial has", "trials have");
    fputs(" no figures: ", out);
    if (n_refused < a->n_without_figures)
        fprintf(out, "%zu failed", a->n_without_figures - n_refused);
    if (n_refused)
        fprintf(out, "%s%zu refused", n_refused < a->n_without_figures ? ", " : "", n_refused);
    fputs("; the first: ", out);
    put_place(out, a, first->row);
    fputs(": ", out);
    words_clean(out, first->error                       ? first->error
                     : !strcmp(first->verify, "failed") ? "verification failed"
                                                        : "no reason");
}

/* One text for each reason of an arm, with the number of cells. */
struct reason {
    const char *text, *first_label;
    size_t n;
};

static size_t count_reason(struct reason *reasons, size_t n, const char *text, const char *label)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(reasons[i].text, text)) {
            reasons[i].n++;
            return n;
        }
    if (n < NAMED_MAX)
        reasons[n++] = (struct reason){text, label, 1};
    else
        reasons[NAMED_MAX - 1].n++; /* the text of the last one stands for the rest */
    return n;
}

enum trouble { TROUBLE_REFUSED, TROUBLE_STOPPED, TROUBLE_NOT_APPLICABLE, N_TROUBLES };

static const char *reason_of(const struct arm_cell *c, enum trouble trouble)
{
    switch (trouble) {
    case TROUBLE_REFUSED:
        return c->state == PAIR_REFUSED ? c->reason ? c->reason : "" : NULL;
    case TROUBLE_NOT_APPLICABLE:
        return c->state == PAIR_NOT_APPLICABLE ? c->reason ? c->reason : "" : NULL;
    default:
        return c->stopped;
    }
}

static size_t find_reasons(const struct analysis *a, uint32_t arm, enum trouble trouble, struct reason *ret)
{
    size_t n = 0;

    for (uint32_t cell = 0; cell < a->x->n_cells; cell++) {
        const char *text = reason_of(analysis_arm_cell(a, cell, arm), trouble);

        if (text)
            n = count_reason(ret, n, text, a->x->cells[cell].label);
    }
    return n;
}

static void warn_reason(FILE *out, const struct analysis *a, uint32_t arm, enum trouble trouble, const struct reason *r)
{
    static const char *const words[] = {
        [TROUBLE_REFUSED] = "was refused before the first trial",
        [TROUBLE_STOPPED] = "was stopped after failures in a row",
        [TROUBLE_NOT_APPLICABLE] = "is not applicable",
    };

    words_arm(out, a, arm);
    fprintf(out, " %s", words[trouble]);
    if (r->n == a->x->n_cells && r->n > 1) {
        fprintf(out, " in each of the %zu cells", r->n);
    } else if (r->n > 1) {
        fprintf(out, " in %zu of %zu cells", r->n, a->x->n_cells);
    } else if (a->x->n_cells > 1) {
        fputs(" in cell ", out);
        words_clean(out, r->first_label);
    }
    if (*r->text) {
        fputs(": ", out);
        words_clean(out, r->text);
    }
}

static int warn_troubles(struct texts *t, const struct analysis *a, uint32_t arm, enum trouble trouble)
{
    struct reason reasons[NAMED_MAX];
    size_t n = find_reasons(a, arm, trouble, reasons);

    for (size_t i = 0; i < n; i++) {
        FILE *out = texts_begin(t);

        if (!out)
            return -ENOMEM;
        warn_reason(out, a, arm, trouble, &reasons[i]);
        if (texts_end(t) < 0)
            return -ENOMEM;
    }
    return 0;
}

/* ------------------------------------------------------------------------------------------------ */

static int warn_all(struct texts *t, const struct analysis *a)
{
    static warning_fn *const warnings[] = {
        warn_biased,     warn_simulated, warn_emulated, warn_quick, warn_external, warn_cached,  warn_unverified,
        warn_unfinished, warn_blocks,    warn_look,     warn_drift, warn_outliers, warn_without,
    };

    for (size_t i = 0; i < ARRAY_SIZE(warnings); i++) {
        FILE *out = texts_begin(t);

        if (!out)
            return -ENOMEM;
        warnings[i](out, a);
        if (texts_end(t) < 0)
            return -ENOMEM;
    }
    for (uint32_t arm = 0; arm < a->x->n_arms; arm++)
        for (int trouble = 0; trouble < N_TROUBLES; trouble++)
            if (warn_troubles(t, a, arm, (enum trouble)trouble) < 0)
                return -ENOMEM;
    return 0;
}

int analysis_warnings(struct analysis *a)
{
    struct texts t = {0};

    if (warn_all(&t, a) < 0) {
        texts_free(&t);
        return -ENOMEM;
    }
    a->warnings = t.items;
    a->n_warnings = t.n;
    return 0;
}
