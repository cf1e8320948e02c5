/* SPDX-License-Identifier: MIT */
#include "report/html.h"

#include "report/chart_style.h"

static const char layout[] =
    "*{box-sizing:border-box}"
    "body{margin:0;background:var(--ground);color:var(--text);font:16px/1.5 system-ui,-apple-system,\"Segoe "
    "UI\",Roboto,"
    "\"Noto Sans\",sans-serif;overflow-wrap:break-word}"
    "main{max-width:74rem;margin:0 auto;padding:1.5rem 1.25rem 4rem}"
    "h1{font-size:1.75rem;line-height:1.2;margin:0 0 .4rem}"
    "h2{font-size:1.25rem;line-height:1.3;margin:2.75rem 0 .6rem;padding-top:.8rem;border-top:1px solid var(--grid)}"
    "h3{font-size:1rem;margin:1.6rem 0 .4rem}"
    "p,ul,ol{margin:.5rem 0;max-width:48rem}"
    "small{font-size:.8rem;color:var(--muted)}"
    "a{color:var(--arm0)}"
    "code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,\"DejaVu Sans Mono\",monospace;font-size:.85em}"
    "code{overflow-wrap:anywhere}"
    "pre{background:var(--sunk);padding:.75rem "
    "1rem;border-radius:4px;white-space:pre-wrap;overflow-wrap:anywhere;margin:"
    ".5rem 0}"
    ".hint{color:var(--muted);font-size:.9rem}"
    "nav{font-size:.9rem;margin:1.2rem 0 0;display:flex;flex-wrap:wrap;gap:.2rem 1.1rem}";

static const char head[] =
    ".product{color:var(--muted);font-size:.9rem;margin:0 0 .4rem}"
    ".product b{color:var(--alarm);border:1px solid;border-radius:3px;padding:.05rem .4rem;margin-left:.5rem;font-size:"
    ".8rem}"
    ".verdicts{list-style:none;padding:0;margin:.4rem 0 .8rem;font-size:1.1rem;max-width:none}"
    ".verdicts span{white-space:nowrap;margin-right:.9rem}"
    ".facts{display:grid;grid-template-columns:repeat(auto-fill,minmax(11.5rem,1fr));gap:.5rem 1.2rem;margin:1rem 0;"
    "padding:.8rem 1rem;background:var(--sunk);border-radius:4px}"
    ".facts dt{color:var(--muted);font-size:.8rem}"
    ".facts dd{margin:0;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}"
    ".warnings{border-left:5px solid var(--alarm);background:var(--sunk);padding:.5rem 1rem;margin:1.2rem "
    "0;border-radius"
    ":0 4px 4px 0}"
    ".warnings h2{border:0;margin:0;padding:0;font-size:1rem;color:var(--alarm)}"
    ".warnings ul{padding-left:1.1rem;margin:.2rem 0}"
    ".arms,.legend{list-style:none;padding:0;margin:.5rem 0;display:flex;flex-wrap:wrap;gap:.2rem "
    "1.4rem;max-width:none}"
    ".arms{display:block}.arms li{margin:.15rem 0}"
    ".key{width:36px;height:14px;vertical-align:-1px;margin-right:.45rem}"
    ".legend{font-size:.9rem;margin-bottom:.6rem}";

static const char tables[] =
    ".scroll{overflow-x:auto;margin:.6rem 0}"
    "table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums;font-size:.92rem}"
    "th,td{text-align:left;padding:.32rem .7rem .32rem 0;border-bottom:1px solid var(--grid);vertical-align:top}"
    "thead th{color:var(--muted);font-weight:600;font-size:.8rem;vertical-align:bottom;border-bottom:2px solid "
    "var(--grid)}"
    "tbody th{font-weight:400}"
    ".cells th:nth-child(n+3):nth-child(-n+6),.cells "
    "td:nth-child(n+3):nth-child(-n+6){text-align:right;white-space:nowrap}"
    ".cells td:nth-child(5){font-weight:600}"
    ".cells th:first-child,.metrics th:first-child{min-width:var(--c)}.cells tbody th+th,.metrics tbody "
    "th+th{min-width:6.5rem}"
    ".cells thead th{overflow-wrap:anywhere}"
    ".cells td:nth-child(7){min-width:9rem}.cells td:nth-child(8){min-width:13rem}.cells "
    "th:nth-child(7){white-space:nowrap}"
    ".cells tr.r th:first-child,.metrics tr.r th:first-child{color:var(--muted)}"
    ".v{white-space:nowrap;font-weight:600}"
    ".v::before{display:inline-block;width:1.15em;font-weight:400}"
    ".v.b{color:var(--good)}.v.b::before{content:\"\\25B2\"}"
    ".v.w{color:var(--alarm)}.v.w::before{content:\"\\25BC\"}"
    ".v.s::before{content:\"=\"}"
    ".v.u{color:var(--muted)}.v.u::before{content:\"\\25CB\"}"
    ".v.x{color:var(--muted);font-weight:400}.v.x::before{content:\"\\2013\"}"
    ".cells td:nth-child(7) i{position:relative;display:block;height:1.3em;background:linear-gradient(var(--band),"
    "var(--band)) 50%/1px 100% no-repeat,linear-gradient(var(--grid),var(--grid)) no-repeat;background-size:1px 100%,"
    "calc(var(--mh) - var(--ml)) 100%;background-position:50% 0,50% 0}"
    ".cells i::before{content:\"\";position:absolute;left:var(--l);width:max(var(--w),2px);top:calc(50% - "
    "1.5px);height:"
    "3px;background:var(--text)}"
    ".cells i::after{content:\"\";position:absolute;left:calc(var(--m) - 4px);top:calc(50% - 4px);width:8px;height:8px;"
    "transform:rotate(45deg);background:var(--text)}"
    ".metrics td small{display:block;white-space:nowrap}"
    ".missing td:last-child{overflow-wrap:anywhere}";

static const char charts[] =
    ".panels{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,26rem),1fr));gap:.8rem 1.4rem}"
    ".times{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,20rem),1fr));gap:.6rem 1rem}"
    "figure{margin:0;break-inside:avoid}"
    "figure svg{display:block;width:100%;height:auto}"
    "figure text{font-family:inherit}"
    ".wide{overflow-x:auto}.wide svg{min-width:40rem}";

static const char lists[] = "details{margin:.6rem 0;border:1px solid var(--grid);border-radius:4px}"
                            "summary{cursor:pointer;padding:.45rem .8rem;font-weight:600;background:var(--sunk)}"
                            "details>div{padding:.2rem .8rem .8rem}"
                            ".facts-list{display:grid;grid-template-columns:minmax(9rem,19rem) 1fr;gap:.1rem "
                            "1rem;margin:.3rem 0;font-size:.9rem}"
                            ".facts-list dt{color:var(--muted);overflow-wrap:anywhere}"
                            ".facts-list dd{margin:0;overflow-wrap:anywhere;font-variant-numeric:tabular-nums}";

/* A phone: a row of a table becomes a small block, its cells named by what the header would say. */
static const char phone[] = "@media screen and (max-width:46rem){"
                            "main{padding:1rem .9rem 3rem}h1{font-size:1.4rem}"
                            ".facts-list{grid-template-columns:1fr}.facts-list dd{margin:0 0 .35rem 1rem}"
                            ".facts{grid-template-columns:repeat(auto-fill,minmax(8.5rem,1fr))}"
                            ".cells thead,.metrics thead{display:none}"
                            ".cells tr,.metrics tr{display:grid;grid-template-columns:1fr 1fr;padding:.5rem "
                            "0;border-bottom:1px solid var(--grid)}"
                            ".cells th,.cells td,.metrics th,.metrics td{border:0;padding:.1rem .4rem .1rem "
                            "0;text-align:left!important;white-space:"
                            "normal!important}"
                            ".cells th:first-child,.metrics th:first-child{grid-column:1/-1;font-weight:600}"
                            ".cells td:nth-child(7),.cells td:nth-child(8){grid-column:1/-1}"
                            ".cells td::before,.metrics td::before,.cells th+th::before,.metrics "
                            "th+th::before{color:var(--muted);font-size:.75rem;"
                            "font-weight:400;display:block}"
                            ".cells th+th::before,.metrics th+th::before{content:\"arm\"}"
                            ".cells td:nth-child(3)::before{content:\"baseline\"}"
                            ".cells td:nth-child(4)::before{content:\"arm's throughput\"}"
                            ".cells td:nth-child(5)::before{content:\"ratio\"}"
                            ".cells td:nth-child(6)::before{content:\"interval\"}"
                            ".metrics td:nth-child(3)::before{content:\"requests\"}"
                            ".metrics td:nth-child(4)::before{content:\"latency p50\"}"
                            ".metrics td:nth-child(5)::before{content:\"latency p99\"}"
                            ".metrics td:nth-child(6)::before{content:\"CPU, worker\"}"
                            ".metrics td:nth-child(7)::before{content:\"CPU, machine\"}"
                            ".wire td:nth-child(3)::before{content:\"in flight\"}"
                            ".wire td:nth-child(4)::before{content:\"size\"}"
                            ".wire td:nth-child(5)::before{content:\"time\"}"
                            ".wire td:nth-child(6)::before{content:\"per request\"}"
                            ".wire td:nth-child(7)::before{content:\"sent again\"}"
                            ".metrics td small{white-space:normal}"
                            "}";

static const char print[] = "@media print{"
                            "@page{margin:14mm}"
                            "body{font-size:10pt}main{max-width:none;padding:0}nav{display:none}"
                            "h2,h3{break-after:avoid}tr,figure,.legend{break-inside:avoid}"
                            "*{-webkit-print-color-adjust:exact;print-color-adjust:exact}"
                            ".panels{grid-template-columns:1fr 1fr}.times{grid-template-columns:1fr 1fr 1fr}"
                            ".wide svg{min-width:0}.scroll,.wide{overflow:visible}"
                            "details{border:0}"
                            "}";

static void write_palette(FILE *out, const struct chart_palette *p, const char *sunk, const char *good,
                          const char *alarm)
{
    for (unsigned i = 0; i < CHART_COLORS; i++)
        fprintf(out, "--arm%u:%s;", i, p->arms[i]);
    for (unsigned i = 0; i < N_INKS; i++)
        fprintf(out, "%s:%s;", chart_ink_variable((enum chart_ink)i), p->inks[i]);
    fprintf(out, "--sunk:%s;--good:%s;--alarm:%s", sunk, good, alarm);
}

/* Paper is light, whatever the screen is. */
void html_style(FILE *out)
{
    fputs("<style>\n:root{color-scheme:light dark;", out);
    write_palette(out, &chart_light, "#f4f6f8", "#0a6b4a", "#a3360f");
    fputs("}\n@media screen and (prefers-color-scheme:dark){:root{", out);
    write_palette(out, &chart_dark, "#1c2229", "#4fd69a", "#ff9466");
    fputs("}}\n@media print{:root{color-scheme:light}}\n", out);
    fprintf(out, "%s\n%s\n%s\n%s\n%s\n%s\n%s\n</style>\n", layout, head, tables, charts, lists, phone, print);
}
