/* SPDX-License-Identifier: MIT */
/* The summary: what the experiment says, in the order in which it is to be read. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/util.h"
#include "report/analysis_parts.h"
#include "report/sentences.h"

#define BIASES_MAX 5 /* that are named */

struct summary {
    const struct analysis *a;
    struct texts texts;
    bool *is_told; /* [cell]: it is part of a line */
    bool *is_out;  /* [arm]: it has no figures anywhere, which was said */
};

/* ------------------------------------------------------------------------------------------------
 * Arms that have nothing to compare
 */

/* The first cell that tells why the arm has no figures, if it has none at all; EXPERIMENT_NONE: it has some, or was not
 * run. */
static uint32_t find_out(const struct analysis *a, uint32_t arm)
{
    uint32_t cell = EXPERIMENT_NONE;

    for (uint32_t i = (uint32_t)a->x->n_cells; i--;) {
        const struct arm_cell *c = analysis_arm_cell(a, i, arm);

        if (c->n_ok)
            return EXPERIMENT_NONE;
        if (c->state != PAIR_PLANNED || c->n_failed || c->n_refused)
            cell = i;
    }
    return cell;
}

static int tell_out(struct summary *s, uint32_t arm)
{
    uint32_t cell = find_out(s->a, arm);
    const struct arm_cell *c;
    const char *why;
    FILE *out;

    if (cell == EXPERIMENT_NONE)
        return 0;
    c = analysis_arm_cell(s->a, cell, arm);
    why = c->state != PAIR_PLANNED ? c->reason : c->error;
    out = texts_begin(&s->texts);
    if (!out)
        return -ENOMEM;
    s->is_out[arm] = true;
    words_arm(out, s->a, arm);
    fprintf(out, "%s %s", arm == s->a->x->baseline ? ", the baseline," : "",
            c->state == PAIR_NOT_APPLICABLE                 ? "is not applicable"
            : c->state == PAIR_REFUSED || c->n_refused != 0 ? "was refused"
                                                            : "has no figures");
    if (why) {
        fputs(": ", out);
        words_clean(out, why);
    }
    fputs(".", out);
    return texts_end(&s->texts);
}

/* ------------------------------------------------------------------------------------------------
 * Why nothing, or nothing yet, is decided
 */

static unsigned most_pairs(const struct analysis *a)
{
    unsigned n = 0;

    for (size_t i = 0; i < a->n_comparisons; i++)
        if (a->comparisons[i].metric[METRIC_RATE].n > n)
            n = a->comparisons[i].metric[METRIC_RATE].n;
    return n;
}

static int tell_nothing(struct summary *s)
{
    const struct analysis *a = s->a;
    unsigned n = most_pairs(a);
    FILE *out;

    if (!a->n_comparisons || n >= STATS_MIN_BLOCKS)
        return 0;
    out = texts_begin(&s->texts);
    if (!out)
        return -ENOMEM;
    if (!a->n_trials)
        fputs("Nothing can be said: no trial was run yet.", out);
    else if (!n)
        fputs("Nothing can be compared: in no block of any cell does an arm have figures beside the baseline's.", out);
    else
        fprintf(out,
                "Nothing is decided: a verdict needs %u blocks in which both arms have figures, and no cell has more "
                "than %u.",
                STATS_MIN_BLOCKS, n);
    return texts_end(&s->texts);
}

/* ------------------------------------------------------------------------------------------------
 * Arms that were matched
 */

static void tell_matched(FILE *out, const struct summary *s, uint32_t cell)
{
    const struct experiment *x = s->a->x;
    const char *before = "";

    for (size_t i = 0; i < x->n_matches; i++) {
        const struct experiment_match *m = &x->matches[i];

        if (m->cell != cell)
            continue;
        fputs(before, out);
        words_arm(out, s->a, m->arm);
        fprintf(out, " kept %.1f with ", m->in_flight);
        words_clean(out, m->key);
        fprintf(out, "=%u", m->value);
        before = ", ";
    }
}

static int tell_matches_of(struct summary *s, uint32_t cell, double target)
{
    FILE *out = texts_begin(&s->texts);

    if (!out)
        return -ENOMEM;
    if (s->a->x->n_cells > 1) {
        words_clean(out, s->a->x->cells[cell].label);
        fputs(": the", out);
    } else {
        fputs("The", out);
    }
    fprintf(out,
            " arms were set to keep about %.1f wire requests in flight, and may differ in threads or depth for it: ",
            target);
    tell_matched(out, s, cell);
    fputs(" in pilots.", out);
    return texts_end(&s->texts);
}

/* They stand cell by cell. */
static int tell_matches(struct summary *s)
{
    const struct experiment *x = s->a->x;
    int r = 0;

    for (size_t i = 0; !r && i < x->n_matches; i++)
        if (!i || x->matches[i].cell != x->matches[i - 1].cell)
            r = tell_matches_of(s, x->matches[i].cell, x->matches[i].target);
    return r;
}

/* ------------------------------------------------------------------------------------------------
 * Lines
 */

static int tell_stretch(struct summary *s, const struct stretch *stretch, uint32_t arm)
{
    FILE *out = texts_begin(&s->texts);
    int r, end;

    if (!out)
        return -ENOMEM;
    r = sentence_stretch(out, s->a, stretch, arm);
    end = texts_end(&s->texts);
    return r ? r : end;
}

static int compare_cells(const void *a, const void *b, void *context)
{
    const struct line *l = ((const struct line **)context)[0];
    const struct analysis *analysis = ((const struct analysis **)context)[1];
    const struct experiment_axis *axis = &analysis->x->axes[l->axis];
    double x = axis->values[analysis->x->cells[*(const uint32_t *)a].value[l->axis]].number;
    double y = axis->values[analysis->x->cells[*(const uint32_t *)b].value[l->axis]].number;

    return (x > y) - (x < y);
}

static uint32_t value_on(const struct analysis *a, const struct line *l, size_t place)
{
    return a->x->cells[l->cells[place]].value[l->axis];
}

static int tell_crossover(struct summary *s, const struct line *l, const struct stats_crossover *c)
{
    const struct analysis *a = s->a;
    const struct experiment_axis *axis = &a->x->axes[l->axis];
    FILE *out = texts_begin(&s->texts);

    if (!out)
        return -ENOMEM;
    words_fixed(out, a->x, l->first_cell, l->axis);
    words_arm(out, a, c->rises ? l->arm : a->x->baseline);
    fputs(" overtakes ", out);
    words_arm(out, a, c->rises ? a->x->baseline : l->arm);
    words_range(out, axis, value_on(a, l, c->before), value_on(a, l, c->after), " between ", " and ");
    if (isfinite(c->x) && isfinite(c->low) && isfinite(c->high)) {
        fputs(", at about ", out);
        words_number(out, axis, c->x);
        fputs(" [", out);
        words_number(out, axis, c->low);
        fputs(", ", out);
        words_number(out, axis, c->high);
        fputs("]", out);
    }
    fputs(".", out);
    return texts_end(&s->texts);
}

/* Arms of one set of lines that saturate at the same point are said together; each arm's is said with the first. */
static int tell_saturation(struct summary *s, const struct line *lines, size_t n, size_t first)
{
    const struct analysis *a = s->a;
    const struct line *l = &lines[first];
    size_t n_same = 0, n_said = 0;
    FILE *out;

    for (size_t i = 0; i < n; i++) {
        if (lines[i].arm == a->x->aa || lines[i].saturates != l->saturates)
            continue;
        if (i < first)
            return 0;
        n_same++;
    }
    if (l->saturates >= l->n_cells || l->arm == a->x->aa)
        return 0;
    out = texts_begin(&s->texts);
    if (!out)
        return -ENOMEM;
    words_fixed(out, a->x, l->first_cell, l->axis);
    for (size_t i = first; i < n; i++) {
        if (lines[i].arm == a->x->aa || lines[i].saturates != l->saturates)
            continue;
        fputs(!n_said ? "" : n_said + 1 == n_same ? " and " : ", ", out);
        words_arm(out, a, lines[i].arm);
        n_said++;
    }
    fprintf(out, " gain%s less than ", n_same == 1 ? "s" : "");
    words_percent(out, a->x->margin);
    fputs(" % beyond ", out);
    words_value(out, &a->x->axes[l->axis], value_on(a, l, l->saturates));
    fputs(".", out);
    return texts_end(&s->texts);
}

static int tell_line(struct summary *s, const struct line *l)
{
    const struct analysis *a = s->a;
    const void *context[] = {l, a};
    _cleanup_free_ uint32_t *cells = calloc(l->n_cells, sizeof(*cells));
    struct stretch stretch = {l->axis, cells, l->n_cells};
    int r = 0;

    if (!cells)
        return -ENOMEM;
    if (l->arm == a->x->baseline || l->arm == a->x->aa || s->is_out[l->arm])
        return 0;
    memcpy(cells, l->cells, l->n_cells * sizeof(*cells));
    qsort_r(cells, l->n_cells, sizeof(*cells), compare_cells, context);
    r = tell_stretch(s, &stretch, l->arm);
    for (size_t i = 0; !r && i < l->n_crossovers; i++)
        r = tell_crossover(s, l, &l->crossovers[i]);
    return r;
}

/* The lines of all arms through the same cells stand together. */
static int tell_lines(struct summary *s, const struct line *lines, size_t n)
{
    int r = 0;

    for (size_t i = 0; i < lines->n_cells; i++)
        s->is_told[lines->cells[i]] = true;
    for (size_t i = 0; !r && i < n; i++)
        r = tell_line(s, &lines[i]);
    for (size_t i = 0; !r && i < n; i++)
        r = tell_saturation(s, lines, n, i);
    return r;
}

static int tell_cell(struct summary *s, uint32_t cell)
{
    struct stretch stretch = {EXPERIMENT_NONE, &cell, 1};
    int r = 0;

    for (uint32_t arm = 0; !r && arm < s->a->x->n_arms; arm++)
        if (arm != s->a->x->baseline && arm != s->a->x->aa && !s->is_out[arm])
            r = tell_stretch(s, &stretch, arm);
    return r;
}

static int tell_borrowed(struct summary *s, uint32_t arm)
{
    FILE *out = texts_begin(&s->texts);

    if (!out)
        return -ENOMEM;
    sentence_borrowed(out, s->a, arm);
    return texts_end(&s->texts);
}

/* ------------------------------------------------------------------------------------------------
 * A/A
 */

static size_t count_verdicts(const struct analysis *a, enum stats_verdict v)
{
    size_t n = 0;

    for (size_t i = 0; i < a->n_aa; i++)
        n += a->aa[i].metric[METRIC_RATE].verdict == v;
    return n;
}

static void put_bias(FILE *out, const struct analysis *a)
{
    char ratio[WORDS_RATIO];
    size_t n = 0;

    for (size_t i = 0; i < a->n_aa; i++) {
        const struct stats_effect *e = &a->aa[i].metric[METRIC_RATE];

        if ((e->verdict != VERDICT_BETTER && e->verdict != VERDICT_WORSE) || n++ >= BIASES_MAX)
            continue;
        fputs(n > 1 ? ", " : "", out);
        fprintf(out, "%sx ", words_ratio(e->ratio, ratio));
        words_interval(out, e->low, e->high);
        if (a->x->n_axes) {
            fputs(" in cell ", out);
            words_clean(out, a->x->cells[a->aa[i].cell].label);
        }
    }
    if (n > BIASES_MAX)
        fprintf(out, ", and %zu more", n - BIASES_MAX);
}

static int tell_aa(struct summary *s)
{
    const struct analysis *a = s->a;
    size_t n_biased = count_verdicts(a, VERDICT_BETTER) + count_verdicts(a, VERDICT_WORSE);
    size_t n_judged = n_biased + count_verdicts(a, VERDICT_SAME) + count_verdicts(a, VERDICT_UNDECIDED);
    FILE *out;

    if (!a->n_aa || !a->n_trials)
        return 0;
    out = texts_begin(&s->texts);
    if (!out)
        return -ENOMEM;
    fputs("A/A: the second copy of ", out);
    words_arm(out, a, a->x->baseline);
    if (!n_judged) {
        fputs(" has no figures to judge.", out);
    } else if (n_biased) {
        fputs(" is told apart from the first, which it must not be: ", out);
        put_bias(out, a);
        fputs(".", out);
    } else {
        fprintf(out, " is not told apart from the first%s", a->n_aa == 1 ? "" : " in any cell");
        fprintf(out, " (%zu same, %zu undecided).", count_verdicts(a, VERDICT_SAME),
                n_judged - count_verdicts(a, VERDICT_SAME));
    }
    return texts_end(&s->texts);
}

static int tell_foreign(struct summary *s)
{
    FILE *out;

    if (!s->a->foreign)
        return 0;
    out = texts_begin(&s->texts);
    if (!out)
        return -ENOMEM;
    fputs("Files were not in spur's format: what was read was verified against buffered reads afterwards, which show "
          "what a path changed, not what the storage had wrong; spur prepare makes files that show both.",
          out);
    return texts_end(&s->texts);
}

/* ------------------------------------------------------------------------------------------------ */

static int tell_all(struct summary *s)
{
    const struct analysis *a = s->a;
    int r = tell_matches(s);

    if (!r)
        r = tell_nothing(s);
    if (!r && !a->n_trials)
        return 0;
    for (uint32_t arm = 0; !r && arm < a->x->n_arms; arm++)
        r = tell_out(s, arm);
    if (!r && s->is_out[a->x->baseline])
        return 0; /* nothing to compare with */
    for (size_t i = 0; !r && i + a->x->n_arms <= a->n_lines; i += a->x->n_arms)
        r = tell_lines(s, &a->lines[i], a->x->n_arms);
    for (uint32_t cell = 0; !r && cell < a->x->n_cells; cell++)
        if (!s->is_told[cell])
            r = tell_cell(s, cell);
    for (uint32_t arm = 0; !r && arm < a->x->n_arms; arm++)
        r = tell_borrowed(s, arm);
    if (!r)
        r = tell_aa(s);
    return r ? r : tell_foreign(s);
}

int analysis_sentences(struct analysis *a)
{
    _cleanup_free_ bool *is_told = calloc(a->x->n_cells, sizeof(*is_told));
    _cleanup_free_ bool *is_out = calloc(a->x->n_arms, sizeof(*is_out));
    struct summary s = {.a = a, .is_told = is_told, .is_out = is_out};
    int r = is_told && is_out ? tell_all(&s) : -ENOMEM;

    if (r < 0) {
        texts_free(&s.texts);
        return r;
    }
    a->sentences = s.texts.items;
    a->n_sentences = s.texts.n;
    return 0;
}
