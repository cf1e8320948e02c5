/* SPDX-License-Identifier: MIT */
/*
 * Student's t and chi-square. Cumulative: continued fraction (modified Lentz) of the incomplete beta function, series
 * and continued fraction of the incomplete gamma function (Abramowitz and Stegun 26.5.8, 6.5.29, 6.5.31). Quantiles:
 * Newton steps on the logarithm of the smaller of the two probabilities over the logarithm of the argument, kept in a
 * bracket.
 */
#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "stats/distribution.h"
#include "stats/stats.h"

#define MANY_DF      1e5  /* from here on Hill's expansion of t is exact to double precision */
#define LOG_MAX      700  /* of a quantile: larger ones are infinite */
#define LAST_STEP    1e-9 /* a Newton step after which the error is of its square */
#define STIRLING_MIN 20   /* from here on asymptotic series are */

/* Both sides of a distribution, and its density times the argument: d(inside) / d(log argument). */
struct sides {
    double inside, outside, slope;
};

typedef struct sides sides_fn(double argument, double df);

/* The argument at which @f has these probabilities, near @guess. Infinite where it does not fit a double. */
static double solve(sides_fn *f, double inside, double outside, double df, double guess)
{
    double low = -745, high = LOG_MAX + 1, u = guess > 0 ? log(guess) : 0;
    bool use_inside = inside < outside;

    for (int i = 0; i < 200; i++) {
        struct sides s = f(exp(u), df);
        double at = use_inside ? s.inside : s.outside;
        double excess = use_inside ? log(at / inside) : -log(at / outside); /* rises with u */
        double step = excess * at / s.slope;

        if (excess < 0)
            low = u;
        else
            high = u;
        u -= step;
        if (fabs(step) < LAST_STEP)
            break;
        if (!(u > low && u < high))
            u = low + (high - low) / 2;
    }
    return u < LOG_MAX ? exp(u) : INFINITY;
}

/* ------------------------------------------------------------------------------------------------
 * Student's t
 */

/* log(Gamma(a + 1/2) / Gamma(a)); the difference of two lgamma loses digits for large a */
static double log_gamma_half_step(double a)
{
    double r = 1 / (a * a);
    int sign;

    if (a < STIRLING_MIN)
        return lgamma_r(a + 0.5, &sign) - lgamma_r(a, &sign);
    return log(a) / 2 - (1 / 8. - r * (1 / 192. - r * (1 / 640. - r * (17 / 14336. - r * 31 / 18432.)))) / a;
}

static double beta_fraction(double a, double b, double x)
{
    double c = 1, d = 1 / (1 - (a + b) * x / (a + 1)), h = d;

    for (int m = 1; m < 10000; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        double step;

        d = 1 / (1 + even * d);
        c = 1 + even / c;
        h *= c * d;
        d = 1 / (1 + odd * d);
        c = 1 + odd / c;
        step = c * d;
        h *= step;
        if (fabs(step - 1) < DBL_EPSILON)
            break;
    }
    return h;
}

static double log1p_square(double q)
{
    return q < 1e8 ? log1p(q * q) : 2 * log(q);
}

/* Hill (1970), Algorithm 395: the normal deviate with the same tail. */
static double normal_deviate(double t, double df)
{
    double a = df - 0.5, b = 48 * a * a, c = sqrt(a * log1p_square(t / sqrt(df)));

    return c + (c * c * c + 3 * c) / b;
}

static struct sides normal_sides(double z)
{
    return (struct sides){erf(z * M_SQRT1_2), erfc(z * M_SQRT1_2), z * exp(-z * z / 2) * M_2_SQRTPI * M_SQRT1_2};
}

static struct sides t_sides(double t, double df)
{
    double a = df / 2, q = t / sqrt(df), log_x, x, y, front;
    struct sides ret;

    if (isinf(df))
        return normal_sides(t);
    log_x = -log1p_square(q);
    x = exp(log_x);
    y = q < 1e8 ? q * q / (1 + q * q) : 1;
    front = exp(a * log_x + log_gamma_half_step(a)) * sqrt(y / M_PI); /* x^a y^(1/2) / B(a, 1/2) */
    if (df > MANY_DF) {
        ret = normal_sides(normal_deviate(t, df));
    } else if (x < (a + 1) / (a + 2.5)) {
        ret.outside = front * beta_fraction(a, 0.5, x) / a;
        ret.inside = 1 - ret.outside;
    } else {
        ret.inside = front * beta_fraction(0.5, a, y) / 0.5;
        ret.outside = 1 - ret.inside;
    }
    ret.slope = 2 * front;
    return ret;
}

/* Abramowitz and Stegun 26.2.23, put through the leading term of Hill's expansion: good to a few per cent. */
static double t_guess(double outside, double df)
{
    double w = sqrt(-2 * log(fmin(outside, 0.999) / 2));
    double z = w - (2.515517 + w * (0.802853 + w * 0.010328)) / (1 + w * (1.432788 + w * (0.189269 + w * 0.001308)));

    z = fmax(z, 1e-3);
    return isinf(df) ? z : sqrt(df * expm1(z * z / (df > 1 ? df - 0.5 : df)));
}

static double t_solve(double inside, double outside, double df)
{
    double guess;

    if (outside <= 0)
        return INFINITY;
    if (inside <= 0)
        return 0;
    guess = inside < 0.5 ? inside : t_guess(outside, df);
    return solve(t_sides, inside, outside, df, isfinite(guess) ? guess : 1);
}

double t_two_sided(double t, double df)
{
    if (isnan(t) || !(df > 0))
        return NAN;
    if (isinf(t))
        return 0;
    return t == 0 ? 1 : t_sides(fabs(t), df).outside;
}

double t_critical(double alpha, double df)
{
    return df > 0 && alpha >= 0 && alpha <= 1 ? t_solve(1 - alpha, alpha, df) : NAN;
}

double stats_t_cdf(double t, double df)
{
    double outside = t_two_sided(t, df);

    return t > 0 ? 1 - outside / 2 : outside / 2;
}

double stats_t_quantile(double p, double df)
{
    if (!(p >= 0 && p <= 1) || !(df > 0))
        return NAN;
    return p < 0.5 ? -t_solve(1 - 2 * p, 2 * p, df) : t_solve(2 * p - 1, 2 * (1 - p), df);
}

/* ------------------------------------------------------------------------------------------------
 * Chi-square
 */

/* log(x^a exp(-x) / Gamma(a)) */
static double log_gamma_density(double a, double x)
{
    double d = (x - a) / a, r = 1 / (a * a);
    int sign;

    if (a < STIRLING_MIN)
        return a * log(x) - x - lgamma_r(a, &sign);
    return a * (log1p(d) - d) + log(a / (2 * M_PI)) / 2 -
           (1 / 12. - r * (1 / 360. - r * (1 / 1260. - r * (1 / 1680. - r / 1188)))) / a;
}

static double gamma_series(double a, double x)
{
    double term = 1 / a, sum = term;

    for (int i = 1; i < 1000000 && term > sum * DBL_EPSILON; i++) {
        term *= x / (a + i);
        sum += term;
    }
    return sum;
}

static double gamma_fraction(double a, double x)
{
    double b = x + 1 - a, c = 1 / DBL_MIN, d = 1 / b, h = d, step;

    for (int i = 1; i < 1000000; i++) {
        b += 2;
        d = 1 / (b - i * (i - a) * d);
        c = b - i * (i - a) / c;
        step = c * d;
        h *= step;
        if (fabs(step - 1) < DBL_EPSILON)
            break;
    }
    return h;
}

static struct sides chi2_sides(double chi2, double df)
{
    double a = df / 2, x = chi2 / 2;
    struct sides ret = {.slope = exp(log_gamma_density(a, x))};

    if (x < a + 1) {
        ret.inside = ret.slope * gamma_series(a, x);
        ret.outside = 1 - ret.inside;
    } else {
        ret.outside = ret.slope * gamma_fraction(a, x);
        ret.inside = 1 - ret.outside;
    }
    return ret;
}

double stats_chi2_quantile(double p, double df)
{
    double z, w;

    if (!(p >= 0 && p <= 1) || !(df > 0) || isinf(df))
        return NAN;
    if (p == 0 || p == 1)
        return p == 0 ? 0 : INFINITY;
    z = stats_t_quantile(p, INFINITY);
    w = 1 - 2 / (9 * df) + z * sqrt(2 / (9 * df)); /* Wilson and Hilferty (1931) */
    return solve(chi2_sides, p, 1 - p, df, w > 0 ? df * w * w * w : df * 1e-3);
}
