/* SPDX-License-Identifier: MIT */
#include "cli/run_options.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "core/error.h"
#include "core/util.h"

#define SECOND         1000000000ull
#define MOST_INTERVALS 65536u /* the worker keeps so many */

static const char *const op_names[] = {
    [JOB_READ] = "read",           [JOB_WRITE] = "write", [JOB_RANDREAD] = "randread",
    [JOB_RANDWRITE] = "randwrite", [JOB_MIX] = "mix",     [JOB_MIX + 1] = NULL,
};
static const char *const verify_names[] = {
    [VERIFY_SAMPLE] = "sample", [VERIFY_INLINE] = "inline", [VERIFY_OFF] = "off", [VERIFY_OFF + 1] = NULL};
static const char *const share_names[] = {
    [SHARE_NONE] = "none", [SHARE_HANDLE] = "handle", [SHARE_BUFFER] = "buffer",
    [SHARE_BOTH] = "both", [SHARE_BOTH + 1] = NULL,
};

#define AT(field) .offset = offsetof(struct run_options, field)

const struct option run_option_rows[] = {
    {.name = "file",
     .metavar = "FILE",
     .kind = OPTION_TEXTS,
     AT(files),
     .required = true,
     .help = "file to read or write, or a directory whose regular files are used",
     .manual =
         "Threads are dealt round over the files. Of a directory the regular files are taken, in the order of their "
         "names; symbolic links in it are not followed. A block device needs --device-ok."},
    {.name = "path",
     .metavar = "PATH",
     .kind = OPTION_NAME,
     AT(path),
     .names = spur_path_name,
     .default_text = "odirect",
     .help = "path that moves the bytes",
     .manual = "spur list shows what each path is, whether it can run here, and its settings."},
    {.name = "memory",
     .metavar = "MEMORY",
     .kind = OPTION_TEXT,
     AT(memory),
     .default_text = "auto",
     .help = "where bytes end (reads) or start (writes): auto, pageable, pinned, cuda:N, cuda:N,M, emulated",
     .manual =
         "With auto it is cuda:0 where a GPU answers, else emulated: a GPU emulated in host memory. The first line of "
         "output and the JSON say which it was. cuda:0,1 are several GPUs, to which the threads are dealt in turn; in "
         "spur compare, where commas divide values, it stands in double quotes: --memory '\"cuda:0,1\"', --arm "
         "'two:path=cufile,memory=\"cuda:0,1\"'."},
    {.name = "op",
     .metavar = "OP",
     .kind = OPTION_CHOICE,
     AT(op),
     .choices = op_names,
     .default_text = "read",
     .help = "what is done",
     .manual = "Sequential read and write: each thread walks a part of its file of its own, and starts over at its end "
               "unless --bytes ends the run. The random ones draw an offset for each request; mix draws the direction "
               "too. What write, randwrite and mix wrote is read back and verified through a fresh handle after its "
               "pages were dropped from the cache."},
    {.name = "mix",
     .metavar = "PERCENT",
     .kind = OPTION_PERCENT,
     AT(read_percent),
     .default_text = "70",
     .help = "share of reads, with --op mix",
     .manual = "Without --op mix it is an error."},
    {.name = "request",
     .metavar = "SIZE",
     .kind = OPTION_SIZE,
     AT(request_bytes),
     .min = 1,
     .max = 1ull << 30,
     .default_text = "1M",
     .help = "bytes of one request",
     .manual =
         "On paths that use O_DIRECT without an engine of their own it must be a multiple of what the file needs, "
         "often 512 or 4096; the message names the multiple. The last request of a file of an odd size is shorter, "
         "and counted as what it is."},
    {.name = "threads",
     .metavar = "COUNT",
     .kind = OPTION_COUNT,
     AT(n_threads),
     .min = 1,
     .max = 1024,
     .default_text = "8",
     .help = "threads that issue requests",
     .manual = "Each has a queue of its own. With fewer requests in the range than threads, only as many run as have "
               "work, and the output says so."},
    {.name = "depth",
     .metavar = "COUNT",
     .kind = OPTION_COUNT,
     AT(depth),
     .min = 1,
     .max = 4096,
     .default_text = "1",
     .help = "requests that each thread keeps in flight",
     .manual = "More than 1 needs a path that can queue, such as fanout; on a synchronous path it is an error."},
    {.name = "seconds",
     .metavar = "TIME",
     .kind = OPTION_SECONDS,
     AT(seconds_ns),
     .min = 1000000,
     .max = 7 * 24 * 3600 * SECOND,
     .default_text = "10s",
     .conflicts = "bytes",
     .help = "how long is timed; a plain number is in seconds",
     .manual =
         "Requests that complete within this time count; those in flight at its end are waited for and verified, but "
         "not counted."},
    {.name = "bytes",
     .metavar = "SIZE",
     .kind = OPTION_SIZE,
     AT(total_bytes),
     .min = 1,
     .absent = "until the time is up",
     .help = "bytes to move in all, instead of a time",
     .manual = "It is the total of all threads. Sequential ops move each of the first SIZE bytes of the range once; "
               "more than "
               "the range is an error. There is no warm-up."},
    {.name = "warmup",
     .metavar = "TIME",
     .kind = OPTION_TIME,
     AT(warmup_ns),
     .max = 3600 * SECOND,
     .default_text = "1s",
     .help = "run that long before timing",
     .manual = "With --bytes it is 0, and any other value is an error."},
    {.name = "range",
     .metavar = "SIZE",
     .kind = OPTION_SIZE,
     AT(range_bytes),
     .min = 1,
     .absent = "whole files",
     .help = "use only that much of each file, from --offset on"},
    {.name = "offset",
     .metavar = "SIZE",
     .kind = OPTION_SIZE,
     AT(begin_bytes),
     .max = INT64_MAX,
     .default_text = "0",
     .help = "where in each file the range begins"},
    {.name = "unaligned",
     .kind = OPTION_FLAG,
     AT(unaligned),
     .help = "draws offsets at any byte, not at multiples of the request",
     .manual =
         "For the random ops only: a sequential op draws no offsets. Paths that use O_DIRECT without an engine of "
         "their own cannot take it."},
    {.name = "seed",
     .metavar = "NUMBER",
     .kind = OPTION_SEED,
     AT(seed),
     .max = INT64_MAX, /* of JSON's integers */
     .absent = "drawn, and shown",
     .help = "seed of offsets, directions, samples and written payload",
     .manual = "The same seed gives every thread the same requests in the same order."},
    {.name = "verify",
     .metavar = "MODE",
     .kind = OPTION_CHOICE,
     AT(verify),
     .choices = verify_names,
     .default_text = "sample",
     .help = "how bytes are verified",
     .manual =
         "With inline every timed byte is checked where it lies, by a kernel on a GPU. With sample a share of the "
         "timed requests is, and an untimed pass over the range follows on the same path. With off nothing is "
         "verified and the result says so. Files that spur did not prepare hold no pattern: what a path read of them "
         "is compared with independent buffered reads after the timed part."},
    {.name = "verify-limit",
     .metavar = "TIME",
     .kind = OPTION_TIME,
     AT(verify_limit_ns),
     .default_text = "30s",
     .help = "longest time for the untimed verification pass; 0: no limit",
     .manual = "What the pass did not reach is not counted as verified. Not with --verify off."},
    {.name = "share",
     .metavar = "WHAT",
     .kind = OPTION_CHOICE,
     AT(share),
     .choices = share_names,
     .default_text = "none",
     .help = "what threads share",
     .manual =
         "With none each thread opens the file and registers a buffer for itself. With handle the threads of a file "
         "use one open file. With buffer there is one buffer with one registration, of which each thread uses a "
         "slice of its own. With both, both."},
    {.name = "set",
     .metavar = "KEY=VALUE",
     .kind = OPTION_TEXTS,
     AT(settings),
     .help = "setting of the path",
     .manual = "spur list shows the keys of each path with their ranges and defaults."},
    {.name = "interval",
     .metavar = "TIME",
     .kind = OPTION_TIME,
     AT(interval_ns),
     .max = 3600 * SECOND,
     .default_text = "1s",
     .help = "spacing of the live line and of intervals[] in the JSON; 0: none"},
    {.name = "stall",
     .metavar = "TIME",
     .kind = OPTION_TIME,
     AT(stall_ns),
     .default_text = "30s",
     .help = "end the run if nothing completes for so long; 0: never",
     .manual =
         "The state of each thread is reported, and the trial fails. After its result a worker has as long to end, "
         "20 s at most: then it is killed, and the result, which is kept, says so."},
    {.name = "cpus",
     .metavar = "LIST",
     .kind = OPTION_TEXT,
     AT(cpus),
     .absent = "those that spur was started with",
     .help = "bind all threads of the trial to these CPUs: 0-7,16, or near",
     .manual =
         "Threads of libraries and of the kernel's io_uring are bound too. With near: the CPUs next to the GPU, as "
         "the kernel tells for its PCI device; without a GPU it is an error."},
    {.name = "json",
     .metavar = "FILE",
     .kind = OPTION_TEXT,
     AT(json),
     .absent = "no JSON",
     .help = "writes the result as JSON; - is standard output",
     .manual = "With - the table goes to standard error. The file is written whole or not at all, with mode 0600."},
    {.name = "overwrite",
     .kind = OPTION_FLAG,
     AT(overwrite),
     .help = "lets writing ops write files that spur did not prepare",
     .manual =
         "Their contents are lost; a file of which only a part is overwritten stays foreign. Without a writing op "
         "it is an error."},
    {.name = "device-ok",
     .kind = OPTION_FLAG,
     AT(device_ok),
     .help = "lets --file name a block device",
     .manual = "Writing ops need --overwrite as well, unless the device holds blocks of spur's."},
    {.name = "quiet",
     .kind = OPTION_FLAG,
     AT(quiet),
     .help = "no live line and no table; errors and the JSON still appear"},
    {0},
};

static bool writes(unsigned op)
{
    return op == JOB_WRITE || op == JOB_RANDWRITE || op == JOB_MIX;
}

/* ------------------------------------------------------------------------------------------------
 * What rows cannot say
 */

static int usage(struct spur_error *e, const char *text)
{
    return error_spur(e, SPUR_CODE_USAGE, "option", "%s", text);
}

static int check_combinations(struct run_options *o, const struct option_result *given, struct spur_error *e)
{
    bool sequential = o->op == JOB_READ || o->op == JOB_WRITE;

    if (option_given(given, "mix") && o->op != JOB_MIX)
        return error_spur(e, SPUR_CODE_USAGE, "option", "--mix: --op %s has no mix of reads and writes",
                          op_names[o->op]);
    if (o->total_bytes && option_given(given, "warmup") && o->warmup_ns)
        return usage(e, "--warmup: a run with --bytes has none; leave it out or say --warmup 0");
    if (o->unaligned && sequential)
        return error_spur(e, SPUR_CODE_USAGE, "option",
                          "--unaligned: --op %s draws no offsets; use it with randread, randwrite or mix",
                          op_names[o->op]);
    if (o->overwrite && !writes(o->op))
        return error_spur(e, SPUR_CODE_USAGE, "option", "--overwrite: --op %s writes nothing", op_names[o->op]);
    if (option_given(given, "verify-limit") && o->verify == VERIFY_OFF)
        return usage(e, "--verify-limit: with --verify off there is no verification pass");
    if (o->range_bytes && o->range_bytes < o->request_bytes)
        return usage(e, "--range: it is smaller than one request (--request)");
    if (!o->total_bytes && o->interval_ns && o->seconds_ns / o->interval_ns >= MOST_INTERVALS)
        return error_spur(e, SPUR_CODE_USAGE, "option",
                          "--interval: more than %u intervals in --seconds; make them longer, or say --interval 0",
                          MOST_INTERVALS);
    if (o->total_bytes)
        o->warmup_ns = 0;
    return 0;
}

/* "auto", then the memories. */
static const char *memory_word(size_t index)
{
    return index ? spur_memory_name(index - 1) : "auto";
}

/* "0" or "0,1,3". */
static bool is_gpu_list(const char *text)
{
    while (isdigit((unsigned char)*text)) {
        text += strspn(text, "0123456789");
        if (!*text)
            return true;
        if (*text++ != ',')
            return false;
    }
    return false;
}

int run_options_check_memory(const char *memory, struct spur_error *e)
{
    size_t base = strcspn(memory, ":");

    for (size_t i = 0; memory_word(i); i++) {
        const char *word = memory_word(i);

        if (strlen(word) != base || strncmp(word, memory, base))
            continue;
        if (!memory[base])
            return 0;
        /* "cuda:N" or "cuda:N,M": whether it takes an index, and there is a device N, is said when it is opened. */
        if (i && is_gpu_list(memory + base + 1))
            return 0;
        return error_spur(e, SPUR_CODE_USAGE, "option",
                          "--memory: '%s': after the colon comes the number of a GPU, or of several: cuda:0,1", memory);
    }
    option_unknown_value("memory", memory, memory_word, e);
    if (is_gpu_list(memory)) /* what a comma left of cuda:0,1 */
        error_remedy(
            e, "a GPU is cuda:N; where commas divide values, several GPUs are one in double quotes: \"cuda:0,1\"");
    return -EINVAL;
}

static int unknown_key(const struct run_options *o, const char *key, size_t length, struct spur_error *e)
{
    const char *names[64];
    char word[80];
    const char *near;
    size_t n = 0;

    while (n < ARRAY_SIZE(names) - 1 && spur_path_setting(o->path, n)) {
        names[n] = spur_path_setting(o->path, n)->name;
        n++;
    }
    names[n] = NULL;
    snprintf(word, sizeof(word), "%.*s", (int)(length < 70 ? length : 70), key);
    near = nearest_in(word, names);
    error_spur(e, SPUR_CODE_USAGE, "option", "--set: path %s has no setting '%s'", o->path, word);
    if (near)
        error_remedy(e, "did you mean %s?", near);
    else
        error_remedy(e, n ? "spur list shows the settings of each path" : "this path has no settings");
    return -EINVAL;
}

static bool known_key(const char *path, const char *text, size_t length)
{
    _cleanup_free_ char *key = strndup(text, length);

    return key && spur_path_setting_find(path, key);
}

/* What is no UTF-8 cannot travel to the worker, or stand in the result. */
static bool is_utf8(const char *text)
{
    json_t *string = json_string(text);

    json_decref(string);
    return string;
}

static int add_pair(struct run_options *o, const char *text, struct spur_error *e)
{
    size_t length = strcspn(text, "=");
    char *key;

    if (!length || !text[length])
        return error_spur(e, SPUR_CODE_USAGE, "option", "--set: '%s' is not KEY=VALUE", text);
    if (!known_key(o->path, text, length))
        return unknown_key(o, text, length, e);
    for (size_t i = 0; i < o->n_pairs; i++)
        if (strlen(o->pairs[i].key) == length && !strncmp(o->pairs[i].key, text, length))
            return error_spur(e, SPUR_CODE_USAGE, "option", "--set: %s is set twice", o->pairs[i].key);
    if (!is_utf8(text))
        return error_spur(e, SPUR_CODE_USAGE, "option", "--set: the value of %.*s is no UTF-8", (int)length, text);
    key = strndup(text, length);
    if (!key)
        return error_errno(e, ENOMEM, "strndup", "--set");
    o->pairs[o->n_pairs].key = key;
    o->pairs[o->n_pairs++].value = text + length + 1;
    return 0;
}

static int split_settings(struct run_options *o, struct spur_error *e)
{
    int r = 0;

    o->pairs = calloc(o->settings.n_items + 1, sizeof(*o->pairs));
    if (!o->pairs)
        return error_errno(e, ENOMEM, "calloc", "--set");
    for (size_t i = 0; !r && i < o->settings.n_items; i++)
        r = add_pair(o, o->settings.items[i], e);
    return r;
}

int run_options_check(void *options, const struct option_result *given, struct spur_error *e)
{
    struct run_options *o = options;
    int r = check_combinations(o, given, e);

    if (!r)
        r = run_options_check_memory(o->memory, e);
    if (!r)
        r = split_settings(o, e);
    o->seed_given = option_given(given, "seed");
    if (!r && !o->seed_given && getrandom(&o->seed, sizeof(o->seed), 0) != sizeof(o->seed))
        r = error_errno(e, errno, "getrandom", "drawing a seed");
    o->seed &= INT64_MAX;
    if (r < 0)
        run_options_free(o);
    return r;
}

void run_options_free(struct run_options *o)
{
    for (size_t i = 0; i < o->n_pairs; i++)
        free((char *)o->pairs[i].key);
    free(o->pairs);
    o->pairs = NULL;
    o->n_pairs = 0;
}

void run_options_job(const struct run_options *o, struct job *ret)
{
    *ret = (struct job){
        .files = (char **)o->files.items,
        .n_files = o->files.n_items,
        .op = (enum job_op)o->op,
        .verify = (enum job_verify)o->verify,
        .share = (enum job_share)o->share,
        .mix_percent = (unsigned)o->read_percent,
        .threads = (unsigned)o->n_threads,
        .depth = (unsigned)o->depth,
        .request_bytes = o->request_bytes,
        .seconds_ns = o->total_bytes ? 0 : o->seconds_ns,
        .total_bytes = o->total_bytes,
        .warmup_ns = o->total_bytes ? 0 : o->warmup_ns,
        .begin_bytes = o->begin_bytes,
        .range_bytes = o->range_bytes,
        .seed = o->seed,
        .interval_ns = o->interval_ns,
        .verify_limit_ns = o->verify_limit_ns,
        .unaligned = o->unaligned,
        .overwrite = o->overwrite,
        .device_ok = o->device_ok,
        .settings = o->pairs,
        .n_settings = o->n_pairs,
        .baseline_busy = -1,
    };
    snprintf(ret->path, sizeof(ret->path), "%s", o->path);
    snprintf(ret->memory, sizeof(ret->memory), "%s", o->memory);
    snprintf(ret->cpus, sizeof(ret->cpus), "%s", o->cpus ? o->cpus : "");
}

/* ------------------------------------------------------------------------------------------------
 * Texts
 */

const char run_description[] =
    "Times one path on real files: threads issue requests for a time or a number of bytes, the latency of each is "
    "recorded, the bytes are verified, and the output says which road the evidence shows.\n\n"
    "Reading ops open files for reading only and change nothing, not even the access time where that is allowed. "
    "Writing "
    "ops write blocks that can be judged one by one; a file that spur did not prepare is refused unless --overwrite is "
    "given.\n\n"
    "The run happens in a process of its own. SIGINT and SIGTERM end it early; what was measured until then is kept "
    "and "
    "marked as not complete.";

const struct command_exit run_exits[] = {
    {EXIT_OK, "The trial has figures, and what was verified was right."},
    {EXIT_FAILED, "An I/O error, a failed verification, a crashed or hung worker, or no memory."},
    {EXIT_USAGE, NULL},
    {EXIT_REFUSED, NULL},
    {EXIT_INTERRUPTED, NULL},
    {EXIT_TERMINATED, NULL},
    COMMAND_EXITS_END,
};

const struct command_example run_examples[] = {
    {"spur prepare /mnt/a/file --size 8G && spur run --file /mnt/a/file", "Reads through O_DIRECT for 10 seconds"},
    {"spur run --file /mnt/a/file --path fanout --op randread --request 4K --depth 32",
     "Small random reads, 32 in flight per thread"},
    {"spur run --file /mnt/a/file --bytes 8G --verify inline --json result.json",
     "Reads 8 GiB once, checks every byte, keeps the result"},
    {NULL, NULL},
};
