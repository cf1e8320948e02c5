/* SPDX-License-Identifier: MIT */
/* Digamma and trigamma for x > 0: recurrence up to x >= 12, then the asymptotic series (Abramowitz and Stegun 6.3.18,
 * 6.4.12). */
#include <float.h>
#include <math.h>

#include "stats/stats.h"

#define ASYMPTOTIC_MIN 12

double stats_digamma(double x)
{
    double sum = 0, r;

    if (!(x > 0))
        return NAN;
    for (; x < ASYMPTOTIC_MIN; x++)
        sum -= 1 / x;
    r = 1 / (x * x);
    return sum + log(x) - 0.5 / x -
           r * (1 / 12. - r * (1 / 120. - r * (1 / 252. - r * (1 / 240. - r * (1 / 132. - r * 691 / 32760.)))));
}

double stats_trigamma(double x)
{
    double sum = 0, r;

    if (!(x > 0))
        return NAN;
    for (; x < ASYMPTOTIC_MIN; x++)
        sum += 1 / (x * x);
    r = 1 / (x * x);
    return sum + 1 / x + r / 2 +
           r / x * (1 / 6. - r * (1 / 30. - r * (1 / 42. - r * (1 / 30. - r * (5 / 66. - r * 691 / 2730.)))));
}

/* The derivative of trigamma. */
static double tetragamma(double x)
{
    double sum = 0, r;

    for (; x < ASYMPTOTIC_MIN; x++)
        sum -= 2 / (x * x * x);
    r = 1 / (x * x);
    return sum - r - r / x - r * r * (1 / 2. - r * (1 / 6. - r * (1 / 6. - r * (3 / 10. - r * 5 / 6))));
}

/* Newton steps on 1 / trigamma, which is convex and nearly linear: from 1/2 + 1/y they fall towards the root (Smyth
 * 2004, appendix). */
double stats_trigamma_inverse(double y)
{
    double x = 0.5 + 1 / y;

    if (!(y > 0))
        return y == 0 ? INFINITY : NAN;
    if (isinf(x) || y > 1e15) /* 1 / x^2 is all of it */
        return isinf(x) ? INFINITY : 1 / sqrt(y);
    for (int i = 0; i < 100; i++) {
        double trigamma = stats_trigamma(x);
        double step = trigamma * (1 - trigamma / y) / tetragamma(x);

        x += step;
        if (fabs(step) <= 4 * DBL_EPSILON * x)
            break;
    }
    return x;
}
