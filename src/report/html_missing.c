/* SPDX-License-Identifier: MIT */
/* Everything that has no figure, with the reason: what could not run, and trials by what went wrong. */
#include "report/html.h"

#include <stdlib.h>
#include <string.h>

#include "core/util.h"

#define MAX_ROWS  500
#define MAX_NAMED 6 /* trials of one row that are numbered */

static const char *status_words(enum trial_status status)
{
    switch (status) {
    case TRIAL_REFUSED:
        return "refused";
    case TRIAL_INTERRUPTED:
        return "interrupted";
    default:
        return "failed";
    }
}

struct failure {
    const struct store_trial *trial;
    uint32_t cell, arm;
};

static const char *text_of(const struct failure *f)
{
    return f->trial->error ? f->trial->error : "";
}

static int order(const void *a, const void *b)
{
    const struct failure *x = a, *y = b;

    if (x->cell != y->cell)
        return x->cell < y->cell ? -1 : 1;
    if (x->arm != y->arm)
        return x->arm < y->arm ? -1 : 1;
    if (x->trial->status != y->trial->status)
        return x->trial->status < y->trial->status ? -1 : 1;
    if (strcmp(text_of(x), text_of(y)))
        return strcmp(text_of(x), text_of(y));
    return (x->trial->row > y->trial->row) - (x->trial->row < y->trial->row);
}

static bool is_same_kind(const struct failure *x, const struct failure *y)
{
    return x->cell == y->cell && x->arm == y->arm && x->trial->status == y->trial->status &&
           !strcmp(text_of(x), text_of(y));
}

static void write_place(const struct page *p, uint32_t cell, uint32_t arm)
{
    fputs("<tr><td>", p->out);
    html_text(p->out, p->a->x->cells[cell].label);
    fputs("<td>", p->out);
    html_text(p->out, p->a->x->arms[arm].name);
}

static void write_group(const struct page *p, const struct failure *rows, size_t n)
{
    write_place(p, rows->cell, rows->arm);
    fprintf(p->out, "<td>%s<td>", status_words(rows->trial->status));
    for (size_t i = 0; i < n && i < MAX_NAMED; i++)
        fprintf(p->out, "%s%u", i ? ", " : "", rows[i].trial->row + 1);
    if (n > MAX_NAMED)
        fprintf(p->out, " and %zu more", n - MAX_NAMED);
    fputs("<td>", p->out);
    html_text(p->out, *text_of(rows) ? text_of(rows) : "no reason was recorded");
    fputc('\n', p->out);
}

static void write_pair(const struct page *p, uint32_t cell, uint32_t arm, const struct arm_cell *c)
{
    write_place(p, cell, arm);
    fprintf(p->out, "<td>%s<td>none<td>", c->state == PAIR_REFUSED ? "refused" : "not applicable");
    html_text(p->out, c->reason);
    fputc('\n', p->out);
}

static void write_stopped(const struct page *p, uint32_t cell, uint32_t arm, const struct arm_cell *c)
{
    write_place(p, cell, arm);
    fputs("<td>stopped<td>the rest<td>", p->out);
    html_text(p->out, c->stopped);
    fputc('\n', p->out);
}

/* Pairs that could not run at all, and those that were given up. */
static size_t write_pairs(const struct page *p, size_t room)
{
    const struct experiment *x = p->a->x;
    size_t n = 0;

    for (uint32_t cell = 0; cell < x->n_cells; cell++)
        for (uint32_t arm = 0; arm < x->n_arms; arm++) {
            const struct arm_cell *c = analysis_arm_cell(p->a, cell, arm);

            if (c->state == PAIR_PLANNED && !c->stopped)
                continue;
            if (n < room && c->state != PAIR_PLANNED)
                write_pair(p, cell, arm, c);
            else if (n < room)
                write_stopped(p, cell, arm, c);
            n++;
        }
    return n;
}

static size_t write_failures(const struct page *p, struct failure *rows, size_t n, size_t room)
{
    size_t groups = 0;

    qsort(rows, n, sizeof(*rows), order);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && is_same_kind(&rows[i], &rows[end]);)
            end++;
        if (groups++ < room)
            write_group(p, &rows[i], end - i);
    }
    return groups;
}

static size_t collect(const struct analysis *a, struct failure *ret)
{
    size_t n = 0;

    for (size_t i = 0; i < a->n_trials; i++)
        if (a->trials[i].status != TRIAL_OK) {
            const struct experiment_row *row = &a->x->rows[a->trials[i].row];

            ret[n++] = (struct failure){&a->trials[i], row->cell, row->arm};
        }
    return n;
}

static bool has_pairs(const struct analysis *a)
{
    for (size_t i = 0; i < a->x->n_cells * a->x->n_arms; i++)
        if (a->arm_cells[i].state != PAIR_PLANNED || a->arm_cells[i].stopped)
            return true;
    return false;
}

static void write_table(const struct page *p, struct failure *rows, size_t n)
{
    size_t written;

    fputs("<div class=\"scroll\"><table class=\"missing\"><thead><tr><th scope=\"col\">cell<th scope=\"col\">arm<th "
          "scope=\"col\">what<th scope=\"col\">trials<th scope=\"col\">reason</thead><tbody>\n",
          p->out);
    written = write_failures(p, rows, n, MAX_ROWS);
    written += write_pairs(p, written < MAX_ROWS ? MAX_ROWS - written : 0);
    fputs("</tbody></table></div>\n", p->out);
    if (written > MAX_ROWS)
        fprintf(p->out,
                "<p class=\"hint\">%zu more rows are left out; <code>spur report --csv</code> lists every "
                "trial.</p>\n",
                written - MAX_ROWS);
}

void html_missing(const struct page *p)
{
    _cleanup_free_ struct failure *rows = calloc(p->a->n_trials + 1, sizeof(*rows));
    size_t n = rows ? collect(p->a, rows) : 0;

    fputs("<section id=\"missing\">\n<h2>Without figures</h2>\n", p->out);
    if (!rows)
        fputs("<p>Out of memory.</p>\n", p->out);
    else if (n || has_pairs(p->a))
        write_table(p, rows, n);
    else
        fputs("<p>Nothing: every trial that was run has figures.</p>\n", p->out);
    fputs("</section>\n", p->out);
}
