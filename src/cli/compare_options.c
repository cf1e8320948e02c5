/* SPDX-License-Identifier: MIT */
#include "cli/compare_options.h"

#include <string.h>

#include "core/util.h"

#define SECOND 1000000000ull

static const char *const region_names[] = {[REGION_SAME] = "same", [REGION_ROTATE] = "rotate", NULL};

#define AT(field) .offset = offsetof(struct compare_options, field)
#define VALUE(i, key, words, text)                                                                                     \
    {                                                                                                                  \
        .name = key, .metavar = words, .kind = OPTION_TEXT, AT(values[i]), .absent = "as spur run has it",             \
        .help = text                                                                                                   \
    }

/* Options of spur run with their place in values[]. */
static const char *const value_keys[] = {"path",   "memory",       "op",    "mix",      "request", "threads",
                                         "depth",  "seconds",      "bytes", "warmup",   "range",   "offset",
                                         "verify", "verify-limit", "share", "interval", "stall",   "cpus"};

_Static_assert(ARRAY_SIZE(value_keys) <= COMPARE_MAX_VALUES, "values[] has no room for all");

const char *compare_value_key(size_t index)
{
    return index < ARRAY_SIZE(value_keys) ? value_keys[index] : NULL;
}

const struct option compare_rows[] = {
    {.name = "arm",
     .metavar = "NAME[:KEY=VALUE,...]",
     .kind = OPTION_TEXTS,
     AT(arms),
     .help = "an arm: a path with its settings; may be repeated",
     .manual = "Keys are options of spur run without their dashes, and settings of paths (--set). An arm that is named "
               "after a path and sets none uses that path: --arm odirect --arm fanout. A value with commas stands in "
               "double quotes: 'two:path=cufile,memory=\"cuda:0,1\"'. A file may be an arm's setting: then two mounts "
               "are compared."},
    {.name = "baseline",
     .metavar = "NAME",
     .kind = OPTION_TEXT,
     AT(baseline),
     .absent = "the first arm",
     .help = "arm that the others are compared with"},
    {.name = "axis",
     .metavar = "KEY=VALUES",
     .kind = OPTION_TEXTS,
     AT(axes),
     .help = "varies a key over all arms; may be repeated",
     .manual =
         "VALUES is a list (1,8,64), a range that doubles (4K..256K) or multiplies (1..256*4), or a list of both. "
         "Any option below with more than one value is an axis too: --threads 1..64. A key is an axis or an arm's "
         "setting, never both. A value that an arm cannot take is not applicable there; that is known, and shown, "
         "before the first trial."},
    {.name = "prepare",
     .metavar = "KEY=COMMAND",
     .kind = OPTION_TEXTS,
     AT(prepares),
     .help = "runs COMMAND whenever a block goes over to another value of axis KEY",
     .manual =
         "For what only a command can change: a remount, a server's setting. {} in COMMAND is the value. No shell "
         "sees it: it is split into words at blanks, with quotes. KEY may then be any word. Needs --allow-code."},
    {.name = "file",
     .metavar = "FILE",
     .kind = OPTION_TEXTS,
     AT(files),
     .help = "file or directory that all arms use; may be repeated",
     .manual = "As of spur run. Required unless each arm has its own."},
    VALUE(0, "path", "PATH", "path of all arms that name none"),
    VALUE(1, "memory", "MEMORY", "where bytes end or start; auto is resolved once, into the plan, and printed"),
    VALUE(2, "op", "OP", "what is done: read, write, randread, randwrite, mix"),
    VALUE(3, "mix", "PERCENT", "share of reads, with --op mix"),
    VALUE(4, "request", "SIZE", "bytes of one request"),
    VALUE(5, "threads", "COUNT", "threads that issue requests"),
    VALUE(6, "depth", "COUNT", "requests that each thread keeps in flight"),
    VALUE(7, "seconds", "TIME", "how long each trial is timed"),
    VALUE(8, "bytes", "SIZE", "bytes to move in each trial, instead of a time"),
    VALUE(9, "warmup", "TIME", "run that long before timing"),
    VALUE(10, "range", "SIZE", "use only that much of each file, from --offset on"),
    VALUE(11, "offset", "SIZE", "where in each file the range begins"),
    VALUE(12, "verify", "MODE", "how bytes are verified: sample, inline, off"),
    VALUE(13, "verify-limit", "TIME", "longest time for a trial's untimed verification pass"),
    VALUE(14, "share", "WHAT", "what threads share: none, handle, buffer, both"),
    VALUE(15, "interval", "TIME", "spacing of a trial's rate over time; 0: none"),
    VALUE(16, "stall", "TIME", "end a trial if nothing completes for so long; 0: never"),
    VALUE(17, "cpus", "LIST", "bind all threads of every trial to these CPUs, or near"),
    {.name = "set",
     .metavar = "KEY=VALUES",
     .kind = OPTION_TEXTS,
     AT(settings),
     .help = "setting of the path, for all arms; more than one value make an axis"},
    {.name = "unaligned", .kind = OPTION_FLAG, AT(unaligned), .help = "random requests at any byte offset"},
    {.name = "overwrite",
     .kind = OPTION_FLAG,
     AT(overwrite),
     .help = "lets writing ops write files that spur did not prepare"},
    {.name = "device-ok", .kind = OPTION_FLAG, AT(device_ok), .help = "lets --file name a block device"},
    {.name = "blocks",
     .metavar = "COUNT",
     .kind = OPTION_COUNT,
     AT(n_blocks),
     .min = 1,
     .max = 1000,
     .default_text = "5",
     .conflicts = "until-decided",
     .help = "rounds over all cells; fewer than 5 decide nothing",
     .manual =
         "In each block every cell is visited once, in shuffled order, and in it all arms run back to back, in an "
         "order that is balanced over blocks."},
    {.name = "until-decided",
     .kind = OPTION_FLAG,
     AT(until_decided),
     .help = "up to 20 blocks; cells that are decided after 5 or 10 are left out then",
     .manual = "Each of the three looks takes a third of the error that is allowed, so the intervals are wider than "
               "those of a fixed number of blocks."},
    {.name = "aa",
     .kind = OPTION_FLAG,
     AT(aa),
     .help = "adds a second copy of the baseline: a test of the harness itself",
     .manual = "If the copy comes out better or worse anywhere, the report is headed: harness biased."},
    {.name = "match",
     .metavar = "inflight[=COUNT]",
     .kind = OPTION_TEXT,
     AT(match),
     .conflicts = "resume",
     .help = "finds threads or depth at which all arms keep as many wire requests in flight",
     .manual =
         "By untimed pilots before the plan is written down, with --dry-run too. Without COUNT the baseline stays "
         "as it is, and the others are brought to the number that it keeps. Threads are changed, or depth where "
         "an arm sets threads itself, or they are an axis. Each cell has its own. What was found are settings of "
         "the arms from then on, in the plan and in the report; a resumed experiment keeps them. Refused where nothing "
         "counts what "
         "is on the wire (docs/wire.md)."},
    {.name = "region",
     .metavar = "WHICH",
     .kind = OPTION_CHOICE,
     AT(region),
     .choices = region_names,
     .default_text = "same",
     .help = "whether the arms of a cell read the same bytes, or neighbouring parts in turn",
     .manual = "With same, the second arm may find what the first one read in a cache of the server. With rotate each "
               "file is divided into as many parts as there are arms, and in each block every arm has another one."},
    {.name = "seed",
     .metavar = "NUMBER",
     .kind = OPTION_SEED,
     AT(seed),
     .max = INT64_MAX,
     .absent = "drawn, and shown",
     .help = "seed of the order, and of the offsets in each trial"},
    {.name = "limit",
     .metavar = "TIME",
     .kind = OPTION_TIME,
     AT(limit_ns),
     .min = 1,
     .absent = "none",
     .help = "after the first block, begin none that would end later than this after the start",
     .manual = "How long a block takes is known from the trials before it in the same run. So the first one always "
               "runs, whatever its length; with --resume too, where the time counts anew and the plan's own limit does "
               "not hold."},
    {.name = "quick",
     .kind = OPTION_FLAG,
     AT(quick),
     .help = "for trying out: 1 s windows, at most 3 values of each axis; the report says so",
     .manual =
         "What is given on the command line keeps its values; longer windows, warm-ups and verification passes of a "
         "job file give way, an axis of them too. Only with quick = yes in the file itself its own values hold. "
         "Windows of 1 s have no CPU figure of the whole machine, and say little about storage whose rate still "
         "rises."},
    {.name = "results",
     .metavar = "DB",
     .kind = OPTION_TEXT,
     AT(results),
     .absent = "spur-DATE-TIME.db",
     .conflicts = "resume",
     .help = "new file for the results (SQLite)",
     .manual = "A default name that is taken gets a number: spur-DATE-TIME-2.db."},
    {.name = "resume",
     .metavar = "DB",
     .kind = OPTION_TEXT,
     AT(resume),
     .help = "goes on with an experiment that was interrupted",
     .manual =
         "With the plan that is in it. It is refused if spur's binary, a file, a GPU or a setting has changed, what is "
         "in a file that a setting names, or a variable that cuFile reads. A job file or options of the plan may be "
         "given too: then all of them, so that they come to the same plan. With --dry-run the plan is shown, and "
         "nothing is run."},
    {.name = "html", .metavar = "FILE", .kind = OPTION_TEXT, AT(html), .help = "writes the report as a page too"},
    {.name = "dry-run",
     .kind = OPTION_FLAG,
     AT(dry_run),
     .help = "shows plan, order and time, and runs nothing",
     .manual = "Files and paths are opened once, to see what is not applicable. Nothing is written."},
    {.name = "write-job",
     .metavar = "FILE",
     .kind = OPTION_TEXT,
     AT(write_job),
     .help = "writes the plan as a job file, which must not exist, and runs nothing"},
    {.name = "allow-code",
     .kind = OPTION_FLAG,
     AT(allow_code),
     .help = "lets a plan run commands (--prepare), and a job file code",
     .manual =
         "In a job file, the settings program, args, library, json=FILE and env.* are code too. --dry-run shows each "
         "with the SHA-256 of its file."},
    {.name = "quiet", .kind = OPTION_FLAG, AT(quiet), .help = "no plan and no progress; the report still appears"},
    {0},
};

/* ------------------------------------------------------------------------------------------------
 * Texts
 */

const char compare_description[] =
    "Compares two or more arms - paths with their settings - on the same files, memory and workload, and says which is "
    "faster where, with an interval that the verdict follows from.\n\n"
    "Trials are paired: a block visits all cells (points of all axes) in shuffled order, and in each cell all arms run "
    "back to back, each in a process of its own, in an order that is balanced over blocks. So a storage that drifts "
    "does so for all arms alike. The effect of an arm is the geometric mean of its ratios to the baseline over blocks; "
    "its 95 % interval is adjusted for the number of cells. A verdict is same if the interval lies within 3 %, better "
    "or worse if it excludes 1, else undecided, with the number of blocks that would likely decide.\n\n"
    "JOB.ini is a job file: [sweep] with options of this command as keys, and one [arm NAME] for each arm. What is "
    "given on the command line goes before what is in it.\n\n"
    "All is kept in one SQLite file, trial by trial: spur report reads it, also while the experiment runs. After an "
    "interruption --resume goes on.";

const struct command_exit compare_exits[] = {
    {EXIT_OK, "All trials that the plan asked for have figures, or --limit was reached. Verdicts do not matter."},
    {EXIT_FAILED, "Trials without figures: an I/O error, a failed verification, a crashed or hung worker; or the "
                  "experiment could not go on."},
    {EXIT_USAGE, NULL},
    {EXIT_REFUSED, "The road that an arm asked for is not there, a foreign file would be written, or --resume found "
                   "something changed."},
    {EXIT_INTERRUPTED, NULL},
    {EXIT_TERMINATED, NULL},
    COMMAND_EXITS_END,
};

const struct command_example compare_examples[] = {
    {"spur compare --file /mnt/a/file --arm odirect --arm fanout --threads 1..64", "Where fanout pays, over threads"},
    {"spur compare --file /mnt/a/file --arm odirect --arm deep:path=fanout,depth=32 --op randread --request 4K..256K",
     "Small random reads; one arm keeps 32 in flight"},
    {"spur compare --arm one:file=/mnt/a/f --arm two:file=/mnt/b/f --path fanout --aa", "Two mounts, and the harness"},
    {"spur compare examples/threads.ini --file /mnt/a/file --dry-run", "What a job file would do"},
    {"spur compare --resume spur-20261201-120000.db", "Goes on after an interruption"},
    {NULL, NULL},
};
