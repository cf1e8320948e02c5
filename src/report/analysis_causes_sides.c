/* SPDX-License-Identifier: MIT */
#include "report/analysis_causes.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/util.h"
#include "driver/cufile_version.h"
#include "driver/cufile_versions.h"

/* ------------------------------------------------------------------------------------------------
 * Facts of trials, over the trials of a pair
 */

struct facts_of {
    unsigned n, n_slowed;
    double threads, depth, workers, online, before, throttled, link_share, set_rate;
    unsigned n_before;
    const char *link, *library;
    bool disagree, differ;
};

static void keep(double *sum, double value, bool first, bool *ret_differ)
{
    if (first)
        *sum = value;
    else if (*sum != value && !(isnan(*sum) && isnan(value)))
        *ret_differ = true;
}

static void add_facts(struct facts_of *sum, const struct store_facts *f)
{
    bool first = !sum->n++, ignored = false;

    keep(&sum->threads, f->threads, first, &sum->differ);
    keep(&sum->depth, f->depth, first, &sum->differ);
    keep(&sum->workers, f->workers, first, &sum->differ);
    keep(&sum->online, f->online_cpus, first, &sum->differ);
    keep(&sum->set_rate, f->set_rate, first, &ignored);
    if (ignored)
        sum->set_rate = NAN;
    /* The least: a link must be full in all trials. */
    if (first || strcmp(sum->link, f->link) || !(sum->link_share <= f->link_share))
        sum->link_share = first ? f->link_share : strcmp(sum->link, f->link) ? NAN : f->link_share;
    sum->link = f->link;
    if (first || !strcmp(sum->library, f->library))
        sum->library = f->library;
    else
        sum->library = "";
    sum->before += isfinite(f->busy_before) ? f->busy_before : 0;
    sum->n_before += isfinite(f->busy_before);
    sum->throttled += f->throttled_share;
    sum->n_slowed += f->gpu_slowed;
    sum->disagree |= f->samples_disagree;
}

/* By the table of versions. */
static const char *one_at_a_time(const char *version)
{
    const struct cufile_known *known;
    struct cufile_version v;
    char name[64];

    snprintf(name, sizeof(name), "libcufile.so.%s", version);
    if (!*version || !cufile_version_of_name(name, &v))
        return "";
    known = cufile_known_find(&v);
    return known && known->requests == CUFILE_REQUESTS_SERIALISED && known->remedy ? known->remedy : "";
}

static void put_facts(struct cause_side *side, const struct arm_cell *c, const struct facts_of *f)
{
    bool known = f->n && !f->differ;

    side->threads = known ? f->threads : NAN;
    side->depth = known ? f->depth : NAN;
    side->workers = known ? f->workers : NAN;
    side->cpus_online = known ? f->online : NAN;
    side->machine_cpus = NAN;
    side->trial_cpus = c->machine_user_cpus.center + c->machine_system_cpus.center;
    if (f->n_before)
        side->machine_cpus = side->trial_cpus + f->before / f->n_before;
    side->throttled_share = f->n ? f->throttled / f->n : NAN;
    side->gpu_slowed_share = f->n ? (double)f->n_slowed / f->n : NAN;
    side->link_name = f->link ? f->link : "";
    side->link_share = f->n ? f->link_share : NAN;
    side->set_rate = f->n ? f->set_rate : NAN;
    side->samples_disagree = f->disagree;
    side->one_at_a_time = one_at_a_time(f->n ? f->library : "");
}

/* ------------------------------------------------------------------------------------------------
 * The windows in pieces
 */

/* Last third against the one before it; a last piece that is shorter is left out. NaN: too few pieces. */
static double rising(const struct store_interval *items, size_t n)
{
    double middle = 0, last = 0;
    size_t third;

    if (n && items[n - 1].end_s - items[n - 1].begin_s < 0.9 * (items[0].end_s - items[0].begin_s))
        n--;
    third = n / 3;
    if (n < CAUSE_RISING_MIN_INTERVALS)
        return NAN;
    for (size_t i = 0; i < third; i++) {
        last += items[n - 1 - i].bytes;
        middle += items[n - 1 - third - i].bytes;
    }
    return middle > 0 ? last / middle : NAN;
}

struct pieces {
    const struct store_interval *items;
    size_t n;
};

/* Those of @row; intervals are in the order of rows. */
static struct pieces pieces_of(const struct store_interval *items, size_t n, uint32_t row)
{
    size_t low = 0, high = n, end;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (items[middle].row < row)
            low = middle + 1;
        else
            high = middle;
    }
    for (end = low; end < n && items[end].row == row;)
        end++;
    return (struct pieces){items + low, end - low};
}

/* ------------------------------------------------------------------------------------------------
 * One pair
 */

struct source {
    const struct analysis *a;
    const struct analysis_index *index;
    const struct store_facts *facts;
    size_t n_facts;
    const struct store_interval *intervals;
    size_t n_intervals;
    double *scratch;
};

static int compare_row(const void *key, const void *item)
{
    uint32_t row = *(const uint32_t *)key, other = ((const struct store_facts *)item)->row;

    return (row > other) - (row < other);
}

static void take_trials(const struct source *s, size_t pair, struct cause_side *side, const struct arm_cell *c)
{
    struct facts_of sum = {0};
    size_t n = 0;

    for (size_t i = s->index->first[pair]; i < s->index->first[pair + 1]; i++) {
        const struct store_trial *t = &s->a->trials[s->index->trials[i]];
        const struct store_facts *f = s->n_facts ? bsearch(&t->row, s->facts, s->n_facts, sizeof(*f), compare_row)
                                                 : NULL;
        struct pieces pieces = pieces_of(s->intervals, s->n_intervals, t->row);

        if (!analysis_has_figures(t))
            continue;
        if (f)
            add_facts(&sum, f);
        s->scratch[n] = rising(pieces.items, pieces.n);
        side->n_rising += s->scratch[n++] > 1;
    }
    stats_figure(s->scratch, n, &side->rising);
    put_facts(side, c, &sum);
}

static const char *text_of(const char *text)
{
    return text ? text : "";
}

static void take_settings(const struct experiment *x, uint32_t cell, uint32_t arm, struct cause_side *side)
{
    const char *op = text_of(experiment_value_of(x, cell, arm, "op"));
    const char *path = text_of(experiment_value_of(x, cell, arm, "path"));
    const char *route = experiment_value_of(x, cell, arm, "route");

    side->route = route ? route : !strncmp(path, "cufile", 6) ? "direct" : "";
    side->writes = !strcmp(op, "mix") || !strcmp(op, "write") || !strcmp(op, "randwrite");
    side->reads = !side->writes || !strcmp(op, "mix");
}

static int make_side(const struct source *s, uint32_t cell, uint32_t arm, struct cause_side *side)
{
    const struct arm_cell *c = analysis_arm_cell(s->a, cell, arm);
    char *files = cause_files(s->a->x, cell, arm);

    *side = (struct cause_side){
        .rate = c->metric[METRIC_RATE],
        .requests = c->metric[METRIC_REQUESTS],
        .in_flight = c->wire[WIRE_IN_FLIGHT],
        .wire_bytes = c->wire[WIRE_MEAN_BYTES],
        .service_ns = c->wire[WIRE_SERVICE],
        .per_request = c->wire[WIRE_PER_REQUEST],
        .cpu_per_gib = c->metric[METRIC_CPU_PROCESS].center,
        .machine_per_gib = c->metric[METRIC_CPU_MACHINE].center,
        .user_cpus = c->process_user_cpus.center,
        .system_cpus = c->process_system_cpus.center,
        .observed = c->observed,
        .served = c->served,
        .file = files,
        .is_library = strcmp(c->observed, "host") != 0,
    };
    take_settings(s->a->x, cell, arm, side);
    take_trials(s, (size_t)cell * s->a->x->n_arms + arm, side, c);
    /* The engine that copies to an emulated GPU is one more thread of the process. */
    if (s->a->emulated)
        side->workers += 1;
    return files ? 0 : -ENOMEM;
}

/* ------------------------------------------------------------------------------------------------
 * Ceilings along an axis
 */

static double number_at(const struct analysis *a, const struct line *l, size_t place)
{
    return a->x->axes[l->axis].values[a->x->cells[l->cells[place]].value[l->axis]].number;
}

/* Past the point of saturation, where the number in flight went on rising: the rate did not. */
static void mark_ceiling(const struct analysis *a, const struct line *l, struct cause_side *sides)
{
    const struct cause_side *at;

    if (l->saturates >= l->n_cells)
        return;
    at = &sides[l->cells[l->saturates] * a->x->n_arms + l->arm];
    for (size_t i = 0; i < l->n_cells; i++) {
        struct cause_side *side = &sides[l->cells[i] * a->x->n_arms + l->arm];

        if (number_at(a, l, i) <= number_at(a, l, l->saturates))
            continue;
        side->is_ceiling |= cause_apart(&side->in_flight, &at->in_flight) &&
                            side->in_flight.center >= CAUSE_QUEUE_RATIO * at->in_flight.center &&
                            cause_alike(side->wire_bytes.center, at->wire_bytes.center, CAUSE_SAME_SIZE);
    }
}

void cause_sides_free(struct cause_side *sides, size_t n)
{
    for (size_t i = 0; sides && i < n; i++)
        free((char *)sides[i].file); /* the rules only read it */
    free(sides);
}

int cause_sides_make(const struct analysis *a, const struct analysis_index *index, const struct store_facts *facts,
                     size_t n_facts, const struct store_interval *intervals, size_t n_intervals,
                     struct cause_side **ret)
{
    _cleanup_free_ double *scratch = calloc(a->n_trials + 1, sizeof(*scratch));
    struct cause_side *sides = calloc(index->n_pairs + 1, sizeof(*sides));
    struct source s = {a, index, facts, n_facts, intervals, n_intervals, scratch};
    int r = scratch && sides ? 0 : -ENOMEM;

    for (size_t i = 0; !r && i < index->n_pairs; i++)
        r = make_side(&s, (uint32_t)(i / a->x->n_arms), (uint32_t)(i % a->x->n_arms), &sides[i]);
    if (r) {
        cause_sides_free(sides, index->n_pairs);
        return r;
    }
    for (size_t i = 0; i < a->n_lines; i++)
        mark_ceiling(a, &a->lines[i], sides);
    *ret = sides;
    return 0;
}
