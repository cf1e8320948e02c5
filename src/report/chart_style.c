/* SPDX-License-Identifier: MIT */
#include "report/chart_style.h"

#include <string.h>

/* After Okabe and Ito, made darker or lighter until each keeps its contrast; simulated protanopia, deuteranopia and
 * tritanopia leave a CIE76 distance of 18 or more between any two. */
const struct chart_palette chart_light = {
    {"#0b57b0", "#c97a00", "#0c9f6e", "#8a3a78", "#852c1b", "#26201f", "#7f8cb8", "#a452fa"},
    {"#1c2127", "#5c6670", "#dfe3e8", "#ffffff", "#8a94a0"},
};
const struct chart_palette chart_dark = {
    {"#6a90ea", "#f57f2e", "#4fe39a", "#cf8fb0", "#ece24a", "#f2f5f7", "#9dd2ff", "#a060ff"},
    {"#e6eaee", "#9ba6b1", "#2f363e", "#14181d", "#79848f"},
};

const char *chart_ink_variable(enum chart_ink ink)
{
    static const char *const names[N_INKS] = {"--text", "--muted", "--grid", "--ground", "--band"};

    return names[ink];
}

struct shape {
    unsigned filled, open;
    const char *path; /* around 18,7 */
};

static const struct shape shapes[CHART_COLORS] = {
    {7, 6, "M14 7a4 4 0 1 0 8 0a4 4 0 1 0-8 0z"},
    {5, 4, "M14.4 3.4h7.2v7.2h-7.2z"},
    {9, 8, "M18 2.2l4.6 7.8h-9.2z"},
    {13, 12, "M18 2l5 5-5 5-5-5z"},
    {11, 10, "M18 11.8l4.6-7.8h-9.2z"},
    {15, 14, "M18 2.4l4.6 3.3-1.8 5.4h-5.6l-1.8-5.4z"},
    {1, 1, "M13.5 6.2h9v1.6h-9zM17.2 2.5h1.6v9h-1.6z"},
    {2, 2, "M14.4 2.6l8.2 8.2-1.1 1.1-8.2-8.2zM21.5 2.6l1.1 1.1-8.2 8.2-1.1-1.1z"},
};

struct dash {
    const char *gnuplot, *svg;
};

static const struct dash dashes[] = {
    {"solid", ""}, {"(22,4)", "11 2"}, {"(10,4)", "5 2"}, {"(14,4,3,4)", "7 2 1.5 2"}, {"(4,3)", "2 1.5"},
};

static const struct dash *dash_of(size_t arm)
{
    return &dashes[(arm + arm / CHART_COLORS) % (sizeof(dashes) / sizeof(dashes[0]))];
}

unsigned chart_point_filled(size_t arm)
{
    return shapes[arm % CHART_COLORS].filled;
}

unsigned chart_point_open(size_t arm)
{
    return shapes[arm % CHART_COLORS].open;
}

const char *chart_dash(size_t arm)
{
    return dash_of(arm)->gnuplot;
}

void chart_style_swatch(FILE *out, size_t arm)
{
    const char *dash = dash_of(arm)->svg;

    fprintf(out,
            "<svg class=\"key\" viewBox=\"0 0 36 14\" aria-hidden=\"true\"><path d=\"M0 7H36\" fill=\"none\" "
            "stroke=\"var(--arm%zu)\" stroke-width=\"2\"",
            arm % CHART_COLORS);
    if (*dash)
        fprintf(out, " stroke-dasharray=\"%s\"", dash);
    fprintf(out, "/><path d=\"%s\" fill=\"var(--arm%zu)\"/></svg>", shapes[arm % CHART_COLORS].path,
            arm % CHART_COLORS);
}
