/* SPDX-License-Identifier: MIT */
/* spur simfs: storage that is known. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "core/error.h"
#include "core/quote.h"
#include "core/units.h"
#include "core/util.h"
#include "simfs/faults.h"
#include "simfs/simfs.h"

struct simfs_command {
    uint64_t size, latency, write_latency, jitter, rpc, n_servers, n_files, seed;
    const char *rate, *write_rate, *backing, *faults, *log, *device;
    bool direct_io, foreground, self_test, unmount;
    uint64_t rate_bytes, write_rate_bytes;
};

#define AT(field) .offset = offsetof(struct simfs_command, field)

static const struct option simfs_rows[] = {
    {.name = "size",
     .metavar = "SIZE",
     .kind = OPTION_SIZE,
     AT(size),
     .min = 4096,
     .max = 1ull << 46,
     .absent = "required to mount",
     .help = "size of each file"},
    {.name = "files",
     .metavar = "COUNT",
     .kind = OPTION_COUNT,
     AT(n_files),
     .min = 1,
     .max = SIMFS_MAX_FILES,
     .default_text = "1",
     .help = "how many files there are: data.0 and up"},
    {.name = "latency",
     .metavar = "TIME",
     .kind = OPTION_TIME,
     AT(latency),
     .max = 3600ull * 1000000000u,
     .default_text = "0",
     .help = "time that a request takes at least"},
    {.name = "jitter",
     .metavar = "PERCENT",
     .kind = OPTION_PERCENT,
     AT(jitter),
     .default_text = "0",
     .help = "how far a request's latency may be above or below, drawn uniformly"},
    {.name = "rate",
     .metavar = "RATE",
     .kind = OPTION_TEXT,
     AT(rate),
     .absent = "no limit",
     .help = "bytes per second of all servers together: 14GiB/s",
     .manual = "Each server has its share of it. Units are those of sizes; /s may be left out."},
    {.name = "rpc",
     .metavar = "SIZE",
     .kind = OPTION_SIZE,
     AT(rpc),
     .min = 4096,
     .default_text = "1M",
     .help = "largest request on the wire; the kernel cuts larger ones",
     .manual = "A multiple of 4096. More than the kernel can carry is refused."},
    {.name = "servers",
     .metavar = "COUNT",
     .kind = OPTION_COUNT,
     AT(n_servers),
     .min = 1,
     .max = MODEL_MAX_SERVERS,
     .default_text = "1",
     .help = "servers, to which requests are dealt by offset / rpc"},
    {.name = "write-latency",
     .metavar = "TIME",
     .kind = OPTION_TIME,
     AT(write_latency),
     .max = 3600ull * 1000000000u,
     .absent = "that of reads",
     .help = "latency of writes"},
    {.name = "write-rate",
     .metavar = "RATE",
     .kind = OPTION_TEXT,
     AT(write_rate),
     .absent = "that of reads",
     .help = "rate of writes"},
    {.name = "backing",
     .metavar = "WHERE",
     .kind = OPTION_TEXT,
     AT(backing),
     .default_text = "memory",
     .help = "memory, pattern, or a directory: where the bytes come from",
     .manual =
         "memory: all files are kept in memory. pattern: each block is made as it is read, so that files may be of "
         "any size; writes are refused (EROFS). A directory (with a slash in its name): its files data.N are "
         "mapped, made where they are missing; what is written stays there."},
    {.name = "seed",
     .metavar = "NUMBER",
     .kind = OPTION_SEED,
     AT(seed),
     .default_text = "1",
     .help = "seed of the jitter and of the files' payload"},
    {.name = "faults",
     .metavar = "SPEC",
     .kind = OPTION_TEXT,
     AT(faults),
     .absent = "none",
     .help = "what goes wrong, and when: error:EIO@n=100;hang@p=0.001,seed=7",
     .manual = "KIND[:VALUE]@WHEN[,WHEN]..., several separated by semicolons. Kinds: error:ERRNO, short:SIZE, "
               "delay:TIME, hang, wrong[:COUNT] (bytes), truncate[:SIZE], gone:TIME (the server). When: n=K or n=K-L "
               "(the K-th request that the rest of the conditions meet), offset=SIZE[-SIZE], p=0..1 with seed=NUMBER, "
               "server=N, file=N, op=read|write, times=N (at most). docs/simfs.md has the whole."},
    {.name = "log",
     .metavar = "FILE",
     .kind = OPTION_TEXT,
     AT(log),
     .absent = "none",
     .help = "one line for each request; complete when the mount is gone",
     .manual = "An older log of simfs is replaced; any other file is refused. docs/simfs.md has its form."},
    {.name = "fuseblk",
     .metavar = "LOOPDEV",
     .kind = OPTION_TEXT,
     AT(device),
     .absent = "type fuse.spur",
     .help = "mounts as type fuseblk on a loop device, which cuFile takes; root",
     .manual = "The device lends its number and is neither read nor written: losetup makes one, on any file."},
    {.name = "direct-io",
     .kind = OPTION_FLAG,
     AT(direct_io),
     .help = "no descriptor goes through the kernel's cache (FOPEN_DIRECT_IO)",
     .manual = "Writes past the cache are then in flight together whoever else has the file open; without it Linux 6.9 "
               "and later makes them so only while no descriptor goes through the cache. But the "
               "pieces of one read travel one after the other, unless it is asynchronous, and a shared mmap fails."},
    {.name = "foreground",
     .kind = OPTION_FLAG,
     AT(foreground),
     .help = "serves in this process, and ends with its parent",
     .manual = "Otherwise the command returns when the mount answers, and a process of its own serves."},
    {.name = "self-test",
     .kind = OPTION_FLAG,
     AT(self_test),
     .conflicts = "unmount",
     .help = "measures mounts of its own against the model, and prints a table"},
    {.name = "unmount",
     .kind = OPTION_FLAG,
     AT(unmount),
     .help = "unmounts MOUNT, if it is a simfs, and waits for its server's end"},
    {0},
};

/* ------------------------------------------------------------------------------------------------
 * What rows cannot say
 */

static int parse_rate(const char *name, const char *text, uint64_t *ret, struct spur_error *e)
{
    struct spur_error reason = {0};
    char word[40];
    size_t n = strlen(text);

    if (n > 2 && !strcmp(text + n - 2, "/s"))
        n -= 2;
    if (n >= sizeof(word))
        return error_spur(e, SPUR_CODE_USAGE, "option", "--%s: %s: is too long", name, text);
    memcpy(word, text, n);
    word[n] = 0;
    if (units_parse_bytes(word, ret, &reason) < 0)
        return error_spur(e, SPUR_CODE_USAGE, "option", "--%s: %s", name, reason.detail);
    if (*ret < 4096)
        return error_spur(e, SPUR_CODE_USAGE, "option", "--%s: %s is below the least value, 4K/s", name, text);
    return 0;
}

static int check_rates(struct simfs_command *c, struct spur_error *e)
{
    int r = c->rate ? parse_rate("rate", c->rate, &c->rate_bytes, e) : 0;

    c->write_rate_bytes = c->rate_bytes;
    return !r && c->write_rate ? parse_rate("write-rate", c->write_rate, &c->write_rate_bytes, e) : r;
}

static int check_rpc(uint64_t rpc, struct spur_error *e)
{
    const char *what;
    uint64_t most = simfs_rpc_max(&what);
    char text[UNITS_TEXT];

    if (rpc % 4096)
        return error_spur(e, SPUR_CODE_USAGE, "option", "--rpc: %llu is no multiple of 4096", (unsigned long long)rpc);
    if (rpc <= most)
        return 0;
    return error_spur(e, SPUR_CODE_USAGE, "option", "--rpc: more than %s, which is the most that %s carries",
                      units_format_size(most, text), what);
}

static int check_mounting(struct simfs_command *c, const struct option_result *given, struct spur_error *e)
{
    struct faults faults;
    int r;

    if (!given->n_arguments)
        return error_spur(e, SPUR_CODE_USAGE, "argument", "MOUNT is missing: spur simfs MOUNT --size SIZE");
    if (!option_given(given, "size"))
        return error_spur(e, SPUR_CODE_USAGE, "option", "--size is missing: spur simfs MOUNT --size SIZE");
    if (c->size > (1ull << 62) / c->n_files)
        return error_spur(e, SPUR_CODE_USAGE, "option", "--size: times --files is more than a file system can have");
    if (strcmp(c->backing, "memory") && strcmp(c->backing, "pattern") && !strchr(c->backing, '/')) {
        error_spur(e, SPUR_CODE_USAGE, "option", "--backing: '%s' is not known", c->backing);
        error_remedy(e, "memory, pattern, or a directory with a slash in its name, such as ./%s", c->backing);
        return -EINVAL;
    }
    if (check_rates(c, e) < 0 || check_rpc(c->rpc, e) < 0)
        return -EINVAL;
    r = c->faults ? faults_parse(c->faults, (unsigned)c->n_servers, c->n_files, &faults, e) : 0;
    if (!r && c->faults)
        faults_free(&faults);
    return r;
}

/* --self-test and --unmount take nothing of what describes a mount. */
static int check_alone(const struct option_result *given, const char *word, struct spur_error *e)
{
    for (size_t i = 0; given->rows[i].name; i++)
        if ((given->given >> i & 1) && strcmp(given->rows[i].name, word))
            return error_spur(e, SPUR_CODE_USAGE, "option", "--%s and --%s cannot be given together",
                              given->rows[i].name, word);
    return 0;
}

static int simfs_check(void *options, const struct option_result *given, struct spur_error *e)
{
    struct simfs_command *c = options;

    if (!c->self_test && !c->unmount)
        return check_mounting(c, given, e);
    if (c->self_test && given->n_arguments)
        return error_spur(e, SPUR_CODE_USAGE, "argument", "--self-test mounts for itself: it takes no MOUNT");
    if (c->unmount && !given->n_arguments)
        return error_spur(e, SPUR_CODE_USAGE, "argument", "MOUNT is missing: spur simfs --unmount MOUNT");
    return check_alone(given, c->self_test ? "self-test" : "unmount", e);
}

/* ------------------------------------------------------------------------------------------------
 * Work
 */

static void say_mounted(void *context, const struct simfs_options *o)
{
    char mount[4200], size[UNITS_TEXT];
    _cleanup_free_ char *word = quote_word(o->mount);

    exit_escape(o->mount, mount, sizeof(mount));
    units_format_bytes(o->file_bytes, size);
    if (o->n_files == 1)
        printf("%s/data.0: %s, simulated\n", mount, size);
    else
        printf("%s/data.0 to data.%llu: %s each, simulated\n", mount, (unsigned long long)o->n_files - 1, size);
    exit_escape(word ? word : o->mount, mount, sizeof(mount));
    printf("spur simfs --unmount %s ends it\n", mount);
    fflush(stdout);
}

static void to_options(const struct simfs_command *c, const struct option_result *given, const char *mount,
                       struct simfs_options *ret)
{
    *ret = (struct simfs_options){
        .mount = mount,
        .model = {.op = {[MODEL_READ] = {c->latency, c->rate_bytes},
                         [MODEL_WRITE] = {option_given(given, "write-latency") ? c->write_latency : c->latency,
                                          c->write_rate_bytes}},
                  .jitter_percent = c->jitter,
                  .rpc_bytes = c->rpc,
                  .n_servers = (unsigned)c->n_servers,
                  .seed = c->seed},
        .file_bytes = c->size,
        .n_files = c->n_files,
        .backing = c->backing,
        .faults = c->faults,
        .log = c->log,
        .device = c->device,
        .direct_io = c->direct_io,
        .foreground = c->foreground,
    };
}

static int mount_it(const struct simfs_command *c, const struct option_result *given, struct spur_error *e)
{
    _cleanup_free_ char *mount = realpath(given->arguments[0], NULL);
    struct simfs_options o;

    to_options(c, given, mount ? mount : given->arguments[0], &o);
    return simfs_serve(&o, say_mounted, NULL, e);
}

static int simfs_run(void *options, const struct option_result *given)
{
    const struct simfs_command *c = options;
    struct spur_error e = {0};
    int r;

    if (c->self_test)
        r = simfs_self_test(stdout, &e);
    else if (c->unmount)
        r = simfs_unmount(given->arguments[0], &e);
    else
        r = mount_it(c, given, &e);
    if (r < 0)
        return (int)exit_report("simfs", &e);
    return r; /* of the table of exit codes */
}

static const struct command_exit simfs_exits[] = {
    {EXIT_OK, "The mount answers, or has come to its end; with --self-test, the model holds."},
    {EXIT_FAILED, "No memory, an I/O error, a mount in use; with --self-test, the model does not hold."},
    {EXIT_USAGE, "An unknown option, a value out of range, a fault that cannot be understood."},
    {EXIT_REFUSED, "No FUSE here; MOUNT is no empty directory, or with --unmount no simfs; a foreign log or file."},
    {EXIT_INTERRUPTED, "The self-test was interrupted by SIGINT; its mounts are gone."},
    {EXIT_TERMINATED, "The self-test was ended by SIGTERM; its mounts are gone."},
    COMMAND_EXITS_END,
};

static const struct command_example simfs_examples[] = {
    {"spur simfs /mnt/sim --size 8G --latency 500us --rate 14GiB/s", "8 GiB that answer as a fast remote mount would"},
    {"spur run --file /mnt/sim/data.0 --path fanout", "Times it"},
    {"spur simfs --unmount /mnt/sim", "Ends it"},
    {"spur simfs /mnt/sim --size 1T --backing pattern --faults 'error:EIO@n=100'",
     "Reads that fail at the 100th request"},
    {NULL, NULL},
};

const struct command simfs_command = {
    .name = "simfs",
    .summary = "simulated storage whose truth is known",
    .arguments = "[MOUNT]",
    .arguments_manual = "an empty directory",
    .min_arguments = 0,
    .max_arguments = 1,
    .options = simfs_rows,
    .options_size = sizeof(struct simfs_command),
    .description =
        "Mounts a file system that answers each request when a queueing model says so: a lone request takes "
        "max(latency, size / rate), and n in flight give min(n x size / latency, rate). It is ordinary storage to "
        "every "
        "program. Its files are in spur's block format. Everything that is measured on it says simulated.\n\n"
        "MOUNT/.spur/stats has counters, MOUNT/.spur/config the settings. What the server itself costs is measured at "
        "the start and taken off the latency; a rate above what this machine can copy cannot be kept, and --self-test "
        "says where that begins.\n\n"
        "It ends when it is unmounted, or by SIGTERM or SIGINT, which take the mount away at once: whoever waits for "
        "an "
        "answer gets an error. A server that is killed leaves no dead mount behind.",
    .exits = simfs_exits,
    .examples = simfs_examples,
    .see_also = "spur spur-run",
    .check = simfs_check,
    .run = simfs_run,
};
