/* SPDX-License-Identifier: MIT */
#include "report/html.h"

#include <time.h>

#define MAX_EVENTS 50

static void write_order(const struct page *p)
{
    const struct experiment *x = p->a->x;

    fprintf(
        p->out,
        "<li>Each trial ran in a process of its own. A block visits all cells in shuffled order (seed %llu); inside a "
        "cell all arms run back to back, in an order balanced over blocks, on %s of the files.</li>\n",
        (unsigned long long)x->seed, x->region == REGION_SAME ? "the same part" : "neighbouring parts of one size");
    if (x->until_decided)
        fputs("<li>The experiment was looked at after 5, 10 and 20 blocks, each time at a third of alpha; cells that "
              "were "
              "decided then were left out of later blocks.</li>\n",
              p->out);
    if (x->quick)
        fputs("<li>It was a quick one, for trying out.</li>\n", p->out);
}

static void write_statistics(const struct page *p)
{
    const struct analysis *a = p->a;

    fprintf(
        p->out,
        "<li>The effect of an arm in a cell is the geometric mean, over blocks, of its ratio to the baseline in the "
        "same "
        "block. Its interval is Student's t on the logarithms of these ratios; with four cells or more the variance is "
        "shrunk over the cells (moderated t).</li>\n"
        "<li>All cells of one metric are one family: verdicts and printed intervals are adjusted together by Holm's "
        "method, alpha %.3g %%.</li>\n"
        "<li><i>same</i>: the interval lies inside the margin of %g %%. <i>better</i>, <i>worse</i>: it excludes 1. "
        "<i>undecided</i>: neither. With fewer than %d blocks every verdict is undecided.</li>\n"
        "<li>Whiskers in the charts are 95 %% intervals of one arm's figure, not adjusted. They are wider than what "
        "decides: pairing takes out what both arms of a block share.</li>\n"
        "<li>A crossover is the bracket of two points between which the verdict turns round; it has an interval from "
        "%d "
        "blocks on. An arm saturates at the point past which it gains less than the margin.</li>\n",
        100 * a->family_alpha, 100 * a->x->margin, STATS_MIN_BLOCKS, STATS_CROSSOVER_BLOCKS);
}

/* ------------------------------------------------------------------------------------------------
 * What happened
 */

static const char *event_words(enum store_event_kind kind)
{
    static const char *const words[] = {
        [EVENT_STARTED] = "started",         [EVENT_STOPPED] = "arm stopped in a cell",
        [EVENT_DECIDED] = "cell decided",    [EVENT_LIMIT] = "time limit reached",
        [EVENT_PREPARED] = "prepared",       [EVENT_FINISHED] = "finished",
        [EVENT_INTERRUPTED] = "interrupted",
    };

    return (size_t)kind < sizeof(words) / sizeof(words[0]) ? words[kind] : "?";
}

static void write_event(const struct page *p, const struct store_event *e)
{
    time_t seconds = (time_t)(e->realtime_ns / 1000000000u);
    struct tm tm;
    char when[64] = "";

    if (gmtime_r(&seconds, &tm))
        strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S UTC", &tm);
    fprintf(p->out, "<li>%s: %s", when, event_words(e->kind));
    if (e->block != EXPERIMENT_NONE)
        fprintf(p->out, ", block %u", e->block + 1);
    if (e->cell < p->a->x->n_cells) {
        fputs(", ", p->out);
        html_text(p->out, p->a->x->cells[e->cell].label);
    }
    if (e->arm < p->a->x->n_arms) {
        fputs(", ", p->out);
        html_text(p->out, p->a->x->arms[e->arm].name);
    }
    if (e->text) {
        fputs(": <code>", p->out);
        html_text(p->out, e->text);
        fputs("</code>", p->out);
    }
    fputs("</li>\n", p->out);
}

static void write_events(const struct page *p)
{
    const struct analysis *a = p->a;

    if (!a->n_events)
        return;
    fputs("<details><summary>What happened</summary><div><ul>\n", p->out);
    for (size_t i = 0; i < a->n_events && i < MAX_EVENTS; i++)
        write_event(p, &a->events[i]);
    fputs("</ul>\n", p->out);
    if (a->n_events > MAX_EVENTS)
        fprintf(p->out, "<p class=\"hint\">%zu later events are left out.</p>\n", a->n_events - MAX_EVENTS);
    fputs("</div></details>\n", p->out);
}

static void write_settings(const struct page *p)
{
    const struct experiment_settings *s = &p->a->x->common;

    if (!s->n)
        return;
    fputs("<details><summary>Settings of all arms</summary><div><dl class=\"facts-list\">\n", p->out);
    for (size_t i = 0; i < s->n; i++) {
        fputs("<dt>", p->out);
        html_text(p->out, s->items[i].key);
        fputs("<dd>", p->out);
        html_text(p->out, s->items[i].value);
        fputc('\n', p->out);
    }
    fputs("</dl></div></details>\n", p->out);
}

void html_method(const struct page *p)
{
    fputs("<section id=\"method\">\n<h2>To repeat it</h2>\n<pre>", p->out);
    html_text(p->out, p->a->x->command);
    fputs("</pre>\n", p->out);
    write_settings(p);
    write_events(p);
    fputs("<h2>How it was measured</h2>\n<ul>\n", p->out);
    write_order(p);
    write_statistics(p);
    fputs("</ul>\n</section>\n", p->out);
}
