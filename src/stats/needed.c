/* SPDX-License-Identifier: MIT */
/* How many blocks would likely decide what is undecided. */
#include <math.h>

#include "stats/distribution.h"
#include "stats/needed.h"
#include "stats/stats.h"

#define BLOCKS_MAX   10000
#define SD_QUANTILE  0.25              /* the sd is taken between the quartiles of its chi-square distribution */
#define POWER_NORMAL 0.841621233572914 /* quantile(0.8): the pessimistic number decides in 4 of 5 cases */

/* Blocks after which @widths standard errors plus the interval's half width are less than @room, if @n are made. */
static double blocks_at(const struct needed *s, double sd, double widths, double room, double n)
{
    double t = t_critical(s->alpha, s->df + fmax(n - s->n, 0));
    double root = (t + widths) * sd / room;

    return floor(root * root) + 1;
}

/* The least N that needs no more blocks than N. blocks_at falls with N, so it lies between its limit and its first
 * value. */
static unsigned least_blocks(const struct needed *s, double sd, double widths, double room)
{
    double least = fmax(s->n + 1, STATS_MIN_BLOCKS), low, high;

    low = fmin(fmax(blocks_at(s, sd, widths, room, INFINITY), least), BLOCKS_MAX);
    high = fmin(fmax(blocks_at(s, sd, widths, room, low), low), BLOCKS_MAX);
    while (low < high) {
        double middle = floor((low + high) / 2);

        if (blocks_at(s, sd, widths, room, middle) <= middle)
            high = middle;
        else
            low = middle + 1;
    }
    return (unsigned)high;
}

void needed_blocks(const struct needed *s, unsigned *ret_low, unsigned *ret_high)
{
    /* The interval decides when its half width is less than the way from the mean to 0, or to the margin's far end. */
    double room = fmax(fabs(s->mean), s->log_margin - fabs(s->mean));
    double sd_low = s->sd, sd_high = s->sd;

    *ret_low = *ret_high = 0;
    if (!(room > 0) || !isfinite(room) || !isfinite(s->sd))
        return;
    if (isfinite(s->df)) {
        sd_low *= sqrt(s->df / stats_chi2_quantile(1 - SD_QUANTILE, s->df));
        sd_high *= sqrt(s->df / stats_chi2_quantile(SD_QUANTILE, s->df));
    }
    *ret_low = least_blocks(s, sd_low, 0, room);
    *ret_high = least_blocks(s, sd_high, POWER_NORMAL, room);
}
