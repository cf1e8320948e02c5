/* SPDX-License-Identifier: MIT */
/* spur prepare FILE --size SIZE */
#include "cli/prepare.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "cli/command.h"
#include "core/units.h"
#include "core/error.h"
#include "core/util.h"

#define AT(field) .offset = offsetof(struct prepare_options, field)

static const struct option prepare_rows[] = {
    {.name = "size",
     .metavar = "SIZE",
     .kind = OPTION_SIZE,
     AT(bytes),
     .min = 1,
     .max = INT64_MAX,
     .required = true,
     .help = "size of the file",
     .manual = "Any number of bytes: a last block that does not fit whole is cut."},
    {.name = "threads",
     .metavar = "COUNT",
     .kind = OPTION_COUNT,
     AT(n_threads),
     .min = 1,
     .max = 256,
     .default_text = "4",
     .help = "threads that fill and write",
     .manual = "Each has a buffer of 4 MiB. More than the CPUs pays: while some wait for the disk, others fill."},
    {.name = "seed",
     .metavar = "NUMBER",
     .kind = OPTION_SEED,
     AT(seed),
     .absent = "drawn, and shown",
     .help = "seed of the payload",
     .manual = "The same seed gives the same payload; UUID and generation differ all the same. A file that is there "
               "already is kept only if it was made from this seed."},
    {.name = "overwrite",
     .kind = OPTION_FLAG,
     AT(overwrite),
     .help = "writes over a file that spur did not make",
     .manual = "Its contents are lost as soon as writing begins. A complete file of spur's is still kept as it is."},
    {.name = "device-ok",
     .kind = OPTION_FLAG,
     AT(device_ok),
     .help = "lets FILE be a block device, with --overwrite",
     .manual = "A device that is mounted is refused all the same."},
    {.name = "quiet", .kind = OPTION_FLAG, AT(quiet), .help = "no progress and no summary; errors still appear"},
    {0},
};

/* ------------------------------------------------------------------------------------------------
 * Signals and progress
 */

static atomic_int stop_signal; /* a handler has nothing else to write to */

static void on_signal(int number)
{
    stop_signal = number;
}

static void catch_signals(void)
{
    /* One-shot: a second Ctrl-C ends a process that is stuck in the kernel. */
    struct sigaction stop = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    struct sigaction old;

    sigaction(SIGINT, &stop, NULL);
    sigaction(SIGTERM, &stop, NULL);
    if (sigaction(SIGHUP, NULL, &old) == 0 && old.sa_handler != SIG_IGN) /* not under nohup */
        sigaction(SIGHUP, &stop, NULL);
}

struct progress {
    uint64_t total_bytes;
    uint64_t begin_ns, last_ns;
    bool shown;
};

/* Whole seconds, rounded up: "0 s" only when nothing is left. */
static void format_left(double seconds, char *ret_text)
{
    uint64_t whole = (uint64_t)(seconds + 0.999);

    if (whole < 100)
        snprintf(ret_text, UNITS_TEXT, "%llu s", (unsigned long long)whole);
    else
        units_format_time(whole * 1000000000u, ret_text);
}

static void show_progress(void *context, uint64_t done_bytes)
{
    struct progress *p = context;
    uint64_t now = now_ns();
    double seconds = (double)(now - p->begin_ns) / 1e9;
    double rate = (double)done_bytes / seconds;
    char done[UNITS_TEXT], total[UNITS_TEXT], speed[UNITS_TEXT], left[UNITS_TEXT] = "?";

    if (now - p->last_ns < 250000000u)
        return;
    p->last_ns = now;
    p->shown = true;
    if (done_bytes)
        format_left((double)(p->total_bytes - done_bytes) / rate, left);
    fprintf(stderr, "\r%3u %%  %s of %s  %s  %s left\033[K",
            (unsigned)((double)done_bytes * 100 / (double)p->total_bytes), units_format_bytes(done_bytes, done),
            units_format_bytes(p->total_bytes, total), units_format_rate(rate, speed), left);
}

static void clear_progress(const struct progress *p)
{
    if (p->shown)
        fprintf(stderr, "\r\033[K");
}

/* ------------------------------------------------------------------------------------------------
 * Work
 */

static char *format_uuid(const uint64_t uuid[2], char *ret_text)
{
    uint8_t b[16];
    size_t n = 0;

    memcpy(b, uuid, sizeof(b));
    for (size_t i = 0; i < sizeof(b); i++)
        n += (size_t)sprintf(ret_text + n, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", b[i]);
    return ret_text;
}

/* A random (version 4) UUID, the present as generation, and the seed, drawn unless it was given. */
static int make_content(const struct prepare_options *o, struct prepare_content *c, struct spur_error *e)
{
    uint8_t uuid[16];
    struct timespec now;

    if (getrandom(uuid, sizeof(uuid), 0) != sizeof(uuid) || getrandom(&c->seed, sizeof(c->seed), 0) != sizeof(c->seed))
        return error_errno(e, errno, "getrandom", "drawing a UUID");
    uuid[6] = (uint8_t)((uuid[6] & 0x0f) | 0x40);
    uuid[8] = (uint8_t)((uuid[8] & 0x3f) | 0x80);
    memcpy(c->uuid, uuid, sizeof(uuid));
    clock_gettime(CLOCK_REALTIME, &now);
    c->generation = (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000;
    if (c->generation < PATTERN_GENERATION_MIN) {
        error_spur(e, SPUR_CODE_REFUSED, "clock", "the machine's clock stands before 2020: blocks would look stale");
        error_remedy(e, "set the clock");
        return -EPERM;
    }
    if (o->seed_given)
        c->seed = o->seed;
    c->bytes = o->bytes;
    return 0;
}

/* What stands there says "unfinished" on the disk before anything else of it changes. */
static int begin(const struct prepare_target *t, const struct prepare_content *c, struct spur_error *e)
{
    uint64_t size = t->old_bytes > c->bytes ? t->old_bytes : c->bytes;
    int r;

    if (t->state == PREPARE_NEW && !t->temporary[0])
        return 0;
    r = prepare_mark(t->fd, t->shown, c, size < PATTERN_BLOCK ? (size_t)size : PATTERN_BLOCK, e);
    if (!r && !t->is_device && ftruncate(t->fd, (off_t)c->bytes) < 0)
        r = error_errno(e, errno, "ftruncate", "%s", t->shown);
    return r;
}

static int write_all(struct prepare_target *t, const struct prepare_options *o, struct prepare_writer *w,
                     struct spur_error *e)
{
    struct progress progress = {.total_bytes = o->bytes, .begin_ns = now_ns(), .last_ns = now_ns()};
    int r = make_content(o, &w->content, e);

    if (!r)
        r = prepare_target_open(t, o, e);
    if (!r)
        r = begin(t, &w->content, e);
    if (r < 0)
        return r;
    w->fd = t->fd;
    w->name = t->shown;
    w->n_threads = (unsigned)o->n_threads;
    w->stop = &stop_signal;
    w->progress = !o->quiet && isatty(STDERR_FILENO) ? show_progress : NULL;
    w->context = &progress;
    r = prepare_write(w, e);
    clear_progress(&progress);
    if (!r && stop_signal)
        r = -EINTR;
    if (!r)
        r = prepare_seal(t->fd, t->shown, &w->content, e);
    if (!r)
        r = prepare_target_publish(t, e);
    return r;
}

/* ------------------------------------------------------------------------------------------------
 * Reports
 */

static void say_done(const struct prepare_target *t, uint64_t bytes)
{
    char name[1100], size[UNITS_TEXT], uuid[40];

    exit_escape(t->shown, name, sizeof(name));
    printf("%s: already prepared, %s, uuid %s", name, units_format_bytes(bytes, size), format_uuid(t->uuid, uuid));
    if (t->seed_known)
        printf(", seed %llu", (unsigned long long)t->seed);
    printf("; nothing was written\n");
}

static void say_written(const struct prepare_target *t, const struct prepare_writer *w, uint64_t ns)
{
    char name[1100], size[UNITS_TEXT], time[UNITS_TEXT], rate[UNITS_TEXT], uuid[40];
    const struct prepare_content *c = &w->content;

    exit_escape(t->shown, name, sizeof(name));
    printf("%s: %s in %s, %s (%s), uuid %s, seed %llu\n", name, units_format_bytes(c->bytes, size),
           units_format_time(ns, time), units_format_rate((double)c->bytes * 1e9 / (double)ns, rate),
           !w->direct                      ? "through the page cache"
           : c->bytes % PATTERN_BLOCK == 0 ? "past the page cache"
                                           : "past the page cache but for its end",
           format_uuid(c->uuid, uuid), (unsigned long long)c->seed);
}

static int say_stopped(const struct prepare_target *t)
{
    char name[1100];

    exit_escape(t->shown, name, sizeof(name));
    if (t->state == PREPARE_NEW)
        fprintf(stderr, "spur prepare: %s: interrupted; nothing was left behind\n", name);
    else
        fprintf(stderr, "spur prepare: %s: interrupted; it is marked as unfinished; run spur prepare again\n", name);
    return stop_signal == SIGINT ? EXIT_INTERRUPTED : EXIT_TERMINATED;
}

static int prepare_run(void *options, const struct option_result *given)
{
    struct prepare_options *o = options;
    struct prepare_writer w = {.fd = -1};
    struct prepare_target t;
    struct spur_error e = {0};
    uint64_t begin_ns = now_ns();
    int r, code = EXIT_OK;

    o->seed_given = option_given(given, "seed");
    catch_signals();
    r = prepare_target_judge(given->arguments[0], o, &t, &e);
    if (!r && t.state != PREPARE_DONE)
        r = write_all(&t, o, &w, &e);
    if (r == -EINTR && stop_signal)
        code = say_stopped(&t);
    else if (r < 0)
        code = (int)exit_report("prepare", &e);
    else if (!o->quiet && t.state == PREPARE_DONE)
        say_done(&t, o->bytes);
    else if (!o->quiet)
        say_written(&t, &w, now_ns() - begin_ns);
    prepare_target_close(&t);
    return code;
}

static const struct command_exit prepare_exits[] = {
    {EXIT_OK, "The file is whole, or was already."},
    {EXIT_FAILED, "An I/O error, no space, no permission; a new file was not made."},
    {EXIT_USAGE, "An unknown option, or a value out of range."},
    {EXIT_REFUSED, "A file that spur did not make, a directory, FIFO, socket or device; nothing was changed."},
    {EXIT_INTERRUPTED, "Interrupted by SIGINT; no file looks whole that is not."},
    {EXIT_TERMINATED, "Ended by SIGTERM or SIGHUP; no file looks whole that is not."},
    COMMAND_EXITS_END,
};

static const struct command_example prepare_examples[] = {
    {"spur prepare /mnt/a/file --size 8G", "Writes 8 GiB, or says that they are there already"},
    {"spur prepare --size 1000000 -- -odd-name", "A file whose name begins with a dash"},
    {NULL, NULL},
};

const struct command prepare_command = {
    .name = "prepare",
    .summary = "write a file whose every block can be verified",
    .arguments = "FILE",
    .arguments_manual = "the file to write",
    .min_arguments = 1,
    .max_arguments = 1,
    .options = prepare_rows,
    .options_size = sizeof(struct prepare_options),
    .description =
        "Writes a file of 4 KiB blocks, each with its offset, the file's UUID, a checksum and payload that does not "
        "compress, so that a later run can verify what it read. The file is fully allocated, without holes, and "
        "synced.\n\n"
        "A new file gets its name only when it is whole. A file of spur's of the same size is kept as it is; one of "
        "another size, or one that was left unfinished, is written anew in place. Any other file is refused without "
        "--overwrite, and not opened for writing. While a file is written in place its first block says that it is "
        "unfinished. Files of less than 64 bytes have no whole header, and so count as made by somebody else.\n\n"
        "On a terminal the progress is shown. The summary names size, time, rate, UUID and seed.",
    .exits = prepare_exits,
    .examples = prepare_examples,
    .see_also = "spur spur-run",
    .run = prepare_run,
};
