/* SPDX-License-Identifier: MIT */
/*
 * Why one arm is faster: causes, each from figures that were counted (docs/why.md). Arrays in, causes out; nothing here
 * reads a file or knows a path by name. A wrong cause costs more than none: all conditions of a rule must hold, and a
 * figure that is not known (NaN, 0 trials) fails each condition that needs it. Only what was decided is explained;
 * `noise` and `too short` alone speak of what was not.
 */
#ifndef SPUR_REPORT_CAUSES_H
#define SPUR_REPORT_CAUSES_H

#include "stats/stats.h"

enum cause_kind {
    CAUSE_CONCURRENCY, /* more requests on the wire at a time */
    CAUSE_SPLITTING,   /* the caller's requests became other numbers of wire requests */
    CAUSE_SATURATION,  /* both at what the storage, or a link to it, gives */
    CAUSE_CPU,         /* the slower one's threads, or the machine, never idle */
    CAUSE_CACHE,       /* the page cache served, or took, a part */
    CAUSE_NOT_DIRECT,  /* asked for any road, observed compat */
    CAUSE_THROTTLED,   /* held down by a CPU limit, or by the GPU's own protection */
    CAUSE_TOO_SHORT,   /* the rate was still rising at the end of the windows */
    CAUSE_NOISE,       /* undecided: the ratio differs from block to block by more than what is looked for */
    CAUSE_HELD_BACK,   /* concurrency would be the cause, but the figures contradict each other */
    N_CAUSES,
};
const char *cause_name(enum cause_kind kind); /* "not direct" */

/* ------------------------------------------------------------------------------------------------
 * Thresholds
 */

/* A cause must account for this share of log(ratio) at least: with less, something else did as much. */
#define CAUSE_SHARE 0.75
/* Above this share the confidence is high: the cause alone accounts for the whole, within the noise of its figures. */
#define CAUSE_SHARE_HIGH 0.9
/* Least ratio of two numbers in flight: mean_in_flight of disks is of whole milliseconds, NFS's of whole round trips;
 * a tenth is beyond what their ends do to a window of seconds. */
#define CAUSE_IN_FLIGHT_RATIO 1.1
/* Sizes on the wire that count as one size: a last piece that is shorter moves the mean by less. */
#define CAUSE_SAME_SIZE 1.25
/* Times of a request on two storages that count as one: a piece that carries less is also sooner through. */
#define CAUSE_SAME_TIME 1.25
/* Two different numbers of wire requests for one request: between 1 and 2 pieces lies what an unaligned end adds. */
#define CAUSE_SPLIT_RATIO 1.5
/* Little's law, in flight x size / service time = rate: the error that counters of ms, and the ends of the window,
 * allow. */
#define CAUSE_LITTLE 1.25
/* In flight this much higher at the same rate: queueing, and no longer the noise of a mean. */
#define CAUSE_QUEUE_RATIO 1.5
/* Share of a link's speed from which on it is full: headers and gaps between frames take 3 to 6 % of Ethernet. */
#define CAUSE_LINK_FULL 0.9
/* Share of the rate that a simulated mount was set to. */
#define CAUSE_SET_RATE 0.95
/* A thread that computes so much of its time does not wait: the rest is interrupts, and being scheduled. */
#define CAUSE_BUSY 0.9
/* Above this share of its time a thread's computing may be what keeps requests off the wire. */
#define CAUSE_HALF_BUSY 0.5
/* In flight for each request that the callers may have under way: from there on they wait for the storage, however busy
 * they look (polling). */
#define CAUSE_WAITS 0.5
/* Share of the machine's CPUs in use: above, anything on it may be waiting for a CPU. */
#define CAUSE_MACHINE_FULL 0.9
/* Share of the machine's CPUs that the trial itself keeps busy: below, it is others who leave it none. */
#define CAUSE_MACHINE_OWN 0.5
/* Requests of which the work for each counts more than that for each byte. */
#define CAUSE_SMALL_REQUEST 65536
/* Shares of bytes that went over the wire: read-ahead and metadata move them by a few percent. */
#define CAUSE_WIRE_ALL  0.97
#define CAUSE_WIRE_PART 0.9
/* Share of a control group's periods in which it was held back: fewer are single bursts. */
#define CAUSE_THROTTLED_SHARE 0.25
#define CAUSE_THROTTLED_SOME  0.05 /* enough to make other causes doubtful */
/* The last third of a window against the third before it. */
#define CAUSE_RISING               1.05
#define CAUSE_RISING_MIN_INTERVALS 6 /* two in each third: one of them may be odd */

/* ------------------------------------------------------------------------------------------------
 * What the rules see
 */

/* One arm in one cell, over its blocks. NaN, n 0, "" : not known. Strings are borrowed. file: all of its files, as a
 * text that is equal where the files are. */
struct cause_side {
    struct stats_figure rate;     /* bytes/s */
    struct stats_figure requests; /* of the callers, 1/s */
    struct stats_figure in_flight, wire_bytes, service_ns, per_request;
    double cpu_per_gib;                           /* s, of the process */
    double user_cpus, system_cpus;                /* of the process */
    double machine_cpus;                          /* busy in all, the baseline included */
    double trial_cpus;                            /* of these, above the baseline */
    double machine_per_gib;                       /* s, above the baseline */
    const char *observed, *served, *route, *file; /* route: what a cuFile arm asks for; "" for others */
    double threads, depth;                        /* effective: callers, and what each may have under way */
    double workers;                               /* other threads that work for one caller; 0: none */
    double cpus_online;                           /* of the machine */
    double throttled_share;                       /* of the control group's periods; 0: no limit */
    double gpu_slowed_share;                      /* of trials in which the GPU held its clocks down */
    const char *link_name;                        /* the fullest link */
    double link_share;                            /* of its speed that was used */
    double set_rate;                              /* of a simulated mount, bytes/s; 0: no limit */
    struct stats_figure rising;                   /* last third of a window / the third before */
    unsigned n_rising;                            /* trials in which it is more than 1 */
    bool samples_disagree;                        /* docs/wire.md: then neither mean can be believed */
    bool reads, writes;                           /* what its op does */
    bool is_ceiling; /* along an axis the number in flight rose and the rate did not, up to here */
    const char
        *one_at_a_time; /* what is known to help where the library's callers wait for each other; "" they do not */
    bool is_library;    /* moves bytes in a library with threads of its own, whose CPUs are not the callers' */
};

/* An arm against the baseline in one cell. */
struct cause_case {
    uint32_t cell, arm;
    struct cause_side baseline, side;
    struct stats_effect rate; /* arm / baseline */
    double best_rate;         /* of any arm on these files or some of them, where at most threads and depth differ */
    bool ranked_apart;
    bool simulated; /* storage or driver are models that run on this machine's CPUs */
    double margin;
};

/* ------------------------------------------------------------------------------------------------
 * What they find
 */

enum cause_confidence {
    CONFIDENCE_LIKELY, /* the figures fit, but another cause of the same size could hide behind them */
    CONFIDENCE_HIGH,   /* counted on both sides, accounts for the whole, and nothing else does */
};
const char *cause_confidence_name(enum cause_confidence c); /* "likely", "high" */

/* Numbers of a finding: of the faster (of equals: the arm), and of the slower (the baseline). */
struct cause_number {
    const char *key; /* "in_flight": as docs/why.md names it */
    double faster, slower;
};

#define CAUSE_NUMBERS 5

struct cause_finding {
    enum cause_kind kind;
    enum cause_confidence confidence;
    uint32_t cell, arm;
    bool arm_is_faster;  /* of a decided difference */
    bool is_same;        /* explains why there is none */
    const char *variant; /* one word of what was seen: "link", "in flight"; merged findings have the same */
    const char *subject; /* name of the link or of the control; "" none. Borrowed */
    struct cause_number numbers[CAUSE_NUMBERS]; /* key NULL: no more */
};

/* The two sides of a decided difference. */
struct cause_sides {
    const struct cause_side *faster, *slower;
    double ratio; /* faster / slower, > 1 */
};
/* False: there is no decided difference. */
bool cause_sides(const struct cause_case *c, struct cause_sides *ret);

/* One rule: true and *ret filled in (kind, confidence, variant, subject, numbers) where all its conditions hold. */
typedef bool cause_rule(const struct cause_case *c, struct cause_finding *ret);

/* causes_wire.c */
cause_rule cause_concurrency, cause_splitting, cause_held_back;
/* causes_ceiling.c */
cause_rule cause_saturation;
/* causes_cpu.c */
cause_rule cause_cpu, cause_throttled;
/* causes_road.c */
cause_rule cause_cache, cause_not_direct;
/* causes_steady.c */
cause_rule cause_too_short, cause_noise;

/* All causes of one case, in the order of the enum; returns how many, at most N_CAUSES. */
size_t causes_find(const struct cause_case *c, struct cause_finding ret[static N_CAUSES]);

/* ------------------------------------------------------------------------------------------------
 * Small tools of the rules
 */

/* Whether it is known in at least the blocks that a verdict needs, and its interval with it. */
bool cause_known(const struct stats_figure *f);
/* high's interval lies above low's. */
bool cause_apart(const struct stats_figure *high, const struct stats_figure *low);
/* Share of log(@whole) that log(@part) is; NaN where one is not known. */
double cause_share(double part, double whole);
/* Whether two positive numbers differ by a factor of less than @most. */
bool cause_alike(double a, double b, double most);
/* in flight x size / service time, bytes/s */
double cause_little(const struct cause_side *s);
/* Bytes on the wire for one byte that the callers got. */
double cause_wire_share(const struct cause_side *s);
/* Process CPUs for each thread that may use one; NaN where that is not known (a library's own threads). */
double cause_busy(const struct cause_side *s);
/* Whether its callers mostly wait for the storage, or mostly do not. Both false where that is not known, or between. */
bool cause_waits(const struct cause_side *s);
bool cause_does_not_wait(const struct cause_side *s);
/* Both arms ask the same thing of the same files, the storage answers both, and a CPU limit hardly holds them back. */
bool cause_comparable(const struct cause_case *c);
/* The same, but for the file. */
bool cause_comparable_across_files(const struct cause_case *c);
/* A model of storage on a machine that has no CPU left is no storage. */
bool cause_machine_is_full(const struct cause_side *s);
/* What the storage saw of it is known, is not contradicted by samples, and is consistent with its rate. */
bool cause_knows_wire(const struct cause_side *s);
bool cause_agrees_with_little(const struct cause_side *s);
void cause_number(struct cause_finding *f, const char *key, double faster, double slower);

#endif
