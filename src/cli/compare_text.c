/* SPDX-License-Identifier: MIT */
/* What spur compare says before and while it runs; the report comes after. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/compare.h"
#include "cli/exit.h"
#include "core/units.h"
#include "core/util.h"

/* User text on a terminal. */
static const char *shown(const char *text, char *buffer, size_t size)
{
    exit_escape(text, buffer, size);
    return buffer;
}

/* ------------------------------------------------------------------------------------------------
 * The plan
 */

/* Blocks that are run whatever comes out. */
static uint32_t certain_blocks(const struct experiment *x)
{
    if (x->limit_ns)
        return 1;
    return x->until_decided && x->n_blocks > STATS_MIN_BLOCKS ? STATS_MIN_BLOCKS : x->n_blocks;
}

/* A lower bound: warm-up and window of each trial; processes, set-up and verification come on top. */
static uint64_t planned_ns(const struct experiment *x, const struct sweep_pair *pairs)
{
    uint32_t n_blocks = certain_blocks(x);
    uint64_t sum = 0;

    for (size_t i = 0; i < x->n_rows; i++) {
        const struct job *job = &pairs[x->rows[i].cell * x->n_arms + x->rows[i].arm].job;

        if (x->rows[i].block < n_blocks)
            sum += job->warmup_ns + job->seconds_ns;
    }
    return sum;
}

static bool any_bytes(const struct experiment *x, const struct sweep_pair *pairs)
{
    for (size_t i = 0; i < x->n_cells * x->n_arms; i++)
        if (pairs[i].job.total_bytes)
            return true;
    return false;
}

static void print_settings(FILE *out, const struct experiment_settings *s, const char *lead)
{
    char key[200], value[600];

    for (size_t i = 0; i < s->n; i++)
        fprintf(out, "%s%s=%s", i ? ", " : lead, shown(s->items[i].key, key, sizeof(key)),
                shown(s->items[i].value, value, sizeof(value)));
}

static void print_arms(FILE *out, const struct experiment *x)
{
    char name[200];

    for (size_t i = 0; i < x->n_arms; i++) {
        fprintf(out, "  arm %s", shown(x->arms[i].name, name, sizeof(name)));
        print_settings(out, &x->arms[i].settings, ": ");
        fprintf(out, "%s%s\n", i == x->baseline ? " (baseline)" : "", x->arms[i].is_aa ? " (A/A)" : "");
    }
}

static void print_axes(FILE *out, const struct experiment *x)
{
    char text[600];

    for (size_t i = 0; i < x->n_axes; i++) {
        const struct experiment_axis *axis = &x->axes[i];

        fprintf(out, "  axis %s:", shown(axis->key, text, sizeof(text)));
        for (size_t k = 0; k < axis->n_values; k++)
            fprintf(out, "%s %s", k ? "," : "", shown(axis->values[k].text, text, sizeof(text)));
        if (axis->n_left_out)
            fprintf(out, "; --quick left out %u of its %zu values", axis->n_left_out,
                    axis->n_left_out + axis->n_values);
        if (axis->prepare_command)
            fprintf(out, "; prepared by: %s", shown(axis->prepare_command, text, sizeof(text)));
        putc('\n', out);
    }
}

static void print_matched(FILE *out, const struct experiment *x, uint32_t cell)
{
    char text[400];
    size_t n = 0;

    for (size_t i = 0; i < x->n_matches; i++) {
        const struct experiment_match *m = &x->matches[i];

        if (m->cell != cell)
            continue;
        if (!n && x->n_cells > 1)
            fprintf(out, "  matched in cell %s:", shown(x->cells[cell].label, text, sizeof(text)));
        else if (!n)
            fputs("  matched:", out);
        if (!n++)
            fprintf(out, " %.1f wire requests in flight, by pilots:", m->target);
        fprintf(out, "%s %s %.1f with %s=%u", n > 1 ? "," : "", shown(x->arms[m->arm].name, text, sizeof(text)),
                m->in_flight, m->key, m->value);
    }
    if (n)
        putc('\n', out);
}

static void print_matches(FILE *out, const struct experiment *x)
{
    for (uint32_t cell = 0; cell < x->n_cells; cell++)
        print_matched(out, x, cell);
}

static void print_states(FILE *out, const struct experiment *x)
{
    char name[200], label[400], reason[600];

    for (size_t cell = 0; cell < x->n_cells; cell++)
        for (size_t arm = 0; arm < x->n_arms; arm++) {
            const struct experiment_pair *pair = &x->cells[cell].pairs[arm];

            if (pair->state == PAIR_PLANNED)
                continue;
            fprintf(out, "  %s: %s in cell %s: %s\n", pair->state == PAIR_REFUSED ? "refused" : "not applicable",
                    shown(x->arms[arm].name, name, sizeof(name)), shown(x->cells[cell].label, label, sizeof(label)),
                    shown(pair->reason ? pair->reason : "", reason, sizeof(reason)));
        }
}

/* Nothing is known of them before their trials. */
static void print_troubles(FILE *out, const struct experiment *x, const struct sweep_pair *pairs)
{
    char name[200], label[400], trouble[900];

    for (size_t cell = 0; pairs && cell < x->n_cells; cell++)
        for (size_t arm = 0; arm < x->n_arms; arm++) {
            const char *why = pairs[cell * x->n_arms + arm].trouble;

            if (why)
                fprintf(out, "  failed before its trials, which are run: %s in cell %s: %s\n",
                        shown(x->arms[arm].name, name, sizeof(name)), shown(x->cells[cell].label, label, sizeof(label)),
                        shown(why, trouble, sizeof(trouble)));
        }
}

/* What the check said of memory @name, of a pair that tells why it was chosen if there is one. */
static const json_t *find_memory(const struct experiment *x, const struct sweep_pair *pairs, const char *name)
{
    const json_t *found = NULL;

    for (size_t i = 0; i < x->n_cells * x->n_arms; i++) {
        const json_t *memory = json_object_get(pairs[i].effective, "memory");

        if (!memory || strcmp(json_string_value(json_object_get(memory, "name")) ?: "", name))
            continue;
        if (!found || json_object_get(memory, "chosen_because"))
            found = memory;
    }
    return found;
}

/* A memory, and why it is this one. */
static void print_memory(FILE *out, const struct experiment *x, const struct sweep_pair *pairs, const char *name)
{
    const json_t *memory = find_memory(x, pairs, name);
    const char *device = json_string_value(json_object_get(memory, "device_name"));
    const char *because = json_string_value(json_object_get(memory, "chosen_because"));
    char text[300];

    fprintf(out, "  memory %s", name);
    if (device)
        fprintf(out, " (%s%s)",
                json_is_true(json_object_get(memory, "simulated"))  ? "simulated GPU: "
                : json_is_true(json_object_get(memory, "emulated")) ? "emulated GPU: "
                                                                    : "",
                shown(device, text, sizeof(text)));
    if (because && !strcmp(name, "emulated"))
        fprintf(out, ", for no GPU answers (%.*s)", (int)strcspn(because, ":"), because);
    putc('\n', out);
}

void compare_text_plan(FILE *out, const struct experiment *x, const struct sweep_pair *pairs, const char *results)
{
    const char *memory;
    char time[UNITS_TEXT];

    units_format_time(planned_ns(x, pairs), time);
    fprintf(out, "spur compare: %zu arms, %zu cell%s, %s%u block%s: %zu trials, at least %s%s and verification\n",
            x->n_arms, x->n_cells, x->n_cells == 1 ? "" : "s", x->until_decided ? "up to " : "", x->n_blocks,
            x->n_blocks == 1 ? "" : "s", x->n_rows, time, any_bytes(x, pairs) ? " and the time that --bytes take" : "");
    print_arms(out, x);
    print_axes(out, x);
    print_matches(out, x);
    if (x->common.n) {
        print_settings(out, &x->common, "  all: ");
        putc('\n', out);
    }
    for (size_t i = 0; (memory = experiment_memory(x, i)); i++)
        print_memory(out, x, pairs, memory);
    print_states(out, x);
    print_troubles(out, x, pairs);
    fprintf(out, "  seed %llu", (unsigned long long)x->seed);
    if (results)
        fprintf(out, "; results in %s", results);
    putc('\n', out);
}

void compare_text_order(FILE *out, const struct experiment *x)
{
    char name[200], label[400];

    fprintf(out, "order of trials:\n");
    for (size_t i = 0; i < x->n_rows; i++) {
        const struct experiment_row *row = &x->rows[i];

        if (!row->arm_position)
            fprintf(out, "%s  block %u, %s:", i ? "\n" : "", row->block + 1,
                    shown(x->cells[row->cell].label, label, sizeof(label)));
        fprintf(out, "%s %s", row->arm_position ? "," : "", shown(x->arms[row->arm].name, name, sizeof(name)));
    }
    putc('\n', out);
}

int compare_text_code(FILE *out, const struct experiment *x, struct spur_error *e)
{
    char file[4096], sha256[65], text[600];

    for (size_t i = 0; i < x->n_axes; i++) {
        const char *command = x->axes[i].prepare_command;
        int r = command ? sweep_command_identify(command, file, sizeof(file), sha256, e) : 0;

        if (r < 0)
            return r;
        if (command)
            fprintf(out, "runs: %s (%s, SHA-256 %s)\n", shown(command, text, sizeof(text)), file, sha256);
    }
    return 0;
}

/* ------------------------------------------------------------------------------------------------
 * Progress
 */

static void clear(struct compare_progress *p)
{
    if (p->shown)
        fputs("\r\033[K", p->out);
    p->shown = false;
}

static void print_where(const struct compare_progress *p, const struct sweep_state *s)
{
    char left[UNITS_TEXT], name[100], label[100];

    fprintf(p->out, "trial %zu of %zu", s->n_done + 1 > s->n_todo ? s->n_todo : s->n_done + 1, s->n_todo);
    if (s->left_ns)
        fprintf(p->out, ", %s left", units_format_time(s->left_ns, left));
    fprintf(p->out, ": block %u, %s, %s", s->row->block + 1,
            shown(p->x->cells[s->row->cell].label, label, sizeof(label)),
            shown(p->x->arms[s->row->arm].name, name, sizeof(name)));
}

static void on_progress(void *context, const struct sweep_state *s, const struct worker_progress *w)
{
    struct compare_progress *p = context;
    char rate[UNITS_TEXT];

    if (!p->live)
        return;
    clear(p);
    print_where(p, s);
    if (!strcmp(w->phase, "timed") && w->elapsed_s > 0)
        fprintf(p->out, ", %s", units_format_rate((double)w->bytes / w->elapsed_s, rate));
    else
        fprintf(p->out, ", %s", w->elapsed_s < 0 ? "warm-up" : w->phase);
    p->shown = true;
    fflush(p->out);
}

static void on_begin(void *context, const struct sweep_state *s)
{
    struct compare_progress *p = context;

    if (!p->live)
        return;
    clear(p);
    print_where(p, s);
    p->shown = true;
    fflush(p->out);
}

static void on_end(void *context, const struct sweep_state *s, const struct store_trial *t)
{
    struct compare_progress *p = context;
    char name[200], label[400], error[600];

    if (t->status == TRIAL_OK)
        return;
    clear(p);
    fprintf(p->out, "%s in cell %s, block %u: no figures: %s\n",
            shown(p->x->arms[s->row->arm].name, name, sizeof(name)),
            shown(p->x->cells[s->row->cell].label, label, sizeof(label)), s->row->block + 1,
            shown(t->error ? t->error : "", error, sizeof(error)));
}

/* Ratios until there may be verdicts, then the count of each. */
static void print_verdicts(FILE *out, const struct analysis *a)
{
    unsigned n[VERDICT_WORSE + 1] = {0};
    double low = INFINITY, high = 0;

    for (size_t i = 0; i < a->n_comparisons; i++) {
        const struct stats_effect *effect = &a->comparisons[i].metric[METRIC_RATE];

        n[effect->verdict]++;
        if (!isfinite(effect->ratio))
            continue;
        low = effect->ratio < low ? effect->ratio : low;
        high = effect->ratio > high ? effect->ratio : high;
    }
    if (!a->n_comparisons || !isfinite(low))
        return;
    fprintf(out, "; rates so far %.2fx", low);
    if (high > low)
        fprintf(out, " to %.2fx", high);
    fprintf(out, " of the baseline's: %u better, %u worse, %u same, %u undecided", n[VERDICT_BETTER], n[VERDICT_WORSE],
            n[VERDICT_SAME], n[VERDICT_UNDECIDED]);
}

static void on_block_end(void *context, const struct sweep_state *s, const struct analysis *a)
{
    struct compare_progress *p = context;
    char left[UNITS_TEXT];

    clear(p);
    fprintf(p->out, "block %u of %u", s->row->block + 1, p->x->n_blocks);
    if (s->left_ns)
        fprintf(p->out, ", %s left", units_format_time(s->left_ns, left));
    print_verdicts(p->out, a);
    putc('\n', p->out);
    fflush(p->out);
}

static void on_said(void *context, const char *line)
{
    struct compare_progress *p = context;
    char text[1200];

    clear(p);
    fprintf(p->out, "%s\n", shown(line, text, sizeof(text)));
}

const struct sweep_hooks compare_hooks = {
    .trial_begin = on_begin,
    .trial_progress = on_progress,
    .trial_end = on_end,
    .block_end = on_block_end,
    .said = on_said,
};
