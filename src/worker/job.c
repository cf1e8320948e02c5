/* SPDX-License-Identifier: MIT */
#include "worker/job.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/util.h"

static const char *const op_names[] = {"read", "write", "randread", "randwrite", "mix", NULL};
static const char *const verify_names[] = {"sample", "inline", "off", NULL};
static const char *const share_names[] = {"none", "handle", "buffer", "both", NULL};
static const char *const source_names[] = {"none", "errno", "cuda", "cufile", "spur", NULL};

static int index_of(const char *const *names, const char *word)
{
    for (int i = 0; word && names[i]; i++)
        if (!strcmp(names[i], word))
            return i;
    return -1;
}

bool job_writes(const struct job *job)
{
    return job->op == JOB_WRITE || job->op == JOB_RANDWRITE || job->op == JOB_MIX;
}

const char *job_op_name(enum job_op op)
{
    return op_names[op];
}

const char *job_verify_name(enum job_verify verify)
{
    return verify_names[verify];
}

const char *job_share_name(enum job_share share)
{
    return share_names[share];
}

int job_op_parse(const char *word)
{
    return index_of(op_names, word);
}

int job_verify_parse(const char *word)
{
    return index_of(verify_names, word);
}

int job_share_parse(const char *word)
{
    return index_of(share_names, word);
}

/* ------------------------------------------------------------------------------------------------
 * Names: on the wire every byte that is not plain ASCII travels as %XX, for JSON takes UTF-8 only.
 */

static json_t *encode_name(const char *name)
{
    _cleanup_free_ char *text = malloc(strlen(name) * 3 + 1);
    char *p = text;

    if (!text)
        return NULL;
    for (const unsigned char *c = (const unsigned char *)name; *c; c++)
        p += *c > 0x20 && *c < 0x7f && *c != '%' ? sprintf(p, "%c", *c) : sprintf(p, "%%%02X", *c);
    *p = 0;
    return json_string(text);
}

static char *decode_name(const char *text)
{
    char *name = malloc(strlen(text) + 1);
    char *p = name;
    unsigned byte;

    for (; name && *text; p++) {
        if (*text == '%' && sscanf(text + 1, "%2x", &byte) == 1) {
            *p = (char)byte;
            text += 3;
        } else {
            *p = *text++;
        }
    }
    if (name)
        *p = 0;
    return name;
}

json_t *json_filename(const char *name)
{
    _cleanup_free_ char *text = malloc(strlen(name) * 4 + 1);
    json_t *plain = json_string(name);
    char *p = text;

    if (plain || !text)
        return plain;
    for (const unsigned char *c = (const unsigned char *)name; *c; c++) {
        if (*c == '\\')
            p += sprintf(p, "\\\\");
        else
            p += *c < 0x80 ? sprintf(p, "%c", *c) : sprintf(p, "\\x%02x", *c);
    }
    *p = 0;
    return json_string(text);
}

/* ------------------------------------------------------------------------------------------------ */

static json_t *files_to_json(const struct job *job)
{
    json_t *files = json_array();

    for (size_t i = 0; i < job->n_files; i++)
        json_array_append_new(files, encode_name(job->files[i]));
    return files;
}

static json_t *settings_to_json(const struct job *job)
{
    json_t *settings = json_array();

    for (size_t i = 0; i < job->n_settings; i++)
        json_array_append_new(settings, json_pack("[s,s]", job->settings[i].key, job->settings[i].value));
    return settings;
}

json_t *job_to_json(const struct job *job)
{
    return json_pack(
        "{s:s, s:i, s:o, s:s, s:s, s:s, s:s, s:s, s:i, s:i, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, "
        "s:b, s:b, s:b, s:s, s:o, s:o}",
        "type", "job", "protocol", WORKER_PROTOCOL, "files", files_to_json(job), "path", job->path, "memory",
        job->memory, "op", op_names[job->op], "verify", verify_names[job->verify], "share", share_names[job->share],
        "mix", job->mix_percent, "threads", job->threads, "depth", job->depth, "request",
        (json_int_t)job->request_bytes, "seconds_ns", (json_int_t)job->seconds_ns, "bytes",
        (json_int_t)job->total_bytes, "warmup_ns", (json_int_t)job->warmup_ns, "offset", (json_int_t)job->begin_bytes,
        "range", (json_int_t)job->range_bytes, "seed", (json_int_t)job->seed, "interval_ns",
        (json_int_t)job->interval_ns, "verify_limit_ns", (json_int_t)job->verify_limit_ns, "unaligned", job->unaligned,
        "overwrite", job->overwrite, "device_ok", job->device_ok, "cpus", job->cpus, "baseline_busy_cpus",
        job->baseline_busy < 0 ? json_null() : json_real(job->baseline_busy), "settings", settings_to_json(job));
}

static int parse_files(const json_t *files, struct job *job)
{
    size_t i;
    json_t *item;

    job->files = calloc(json_array_size(files) + 1, sizeof(char *));
    if (!job->files)
        return -ENOMEM;
    json_array_foreach(files, i, item)
    {
        job->files[i] = decode_name(json_string_value(item) ? json_string_value(item) : "");
        if (!job->files[i])
            return -ENOMEM;
        job->n_files = i + 1;
    }
    return 0;
}

static int parse_settings(const json_t *settings, struct job *job)
{
    size_t i;
    json_t *item;

    job->settings = calloc(json_array_size(settings) + 1, sizeof(*job->settings));
    if (!job->settings)
        return -ENOMEM;
    json_array_foreach(settings, i, item)
    {
        const char *key, *value;

        if (json_unpack(item, "[s,s]", &key, &value) < 0)
            return -EINVAL;
        job->settings[i].key = strdup(key);
        job->settings[i].value = strdup(value);
        job->n_settings = i + 1;
        if (!job->settings[i].key || !job->settings[i].value)
            return -ENOMEM;
    }
    return 0;
}

static int parse_words(struct job *job, const char *path, const char *memory, const char *op, const char *verify,
                       const char *share)
{
    int o = job_op_parse(op), v = job_verify_parse(verify), s = job_share_parse(share);

    if (o < 0 || v < 0 || s < 0)
        return -EINVAL;
    job->op = (enum job_op)o;
    job->verify = (enum job_verify)v;
    job->share = (enum job_share)s;
    snprintf(job->path, sizeof(job->path), "%s", path);
    snprintf(job->memory, sizeof(job->memory), "%s", memory);
    return 0;
}

int job_from_json(const json_t *json, struct job *ret_job)
{
    struct job job = {0};
    const char *path, *memory, *op, *verify, *share;
    json_t *files, *settings, *baseline;
    const char *cpus;
    json_int_t request, seconds, bytes, warmup, begin, range, seed, interval, limit;
    int protocol = 0, mix, threads, depth, unaligned, overwrite, device_ok;
    int r;

    if (json_unpack(
            (json_t *)json,
            "{s:i, s:o, s:s, s:s, s:s, s:s, s:s, s:i, s:i, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b, "
            "s:b, s:b, s:s, s:o, s:o}",
            "protocol", &protocol, "files", &files, "path", &path, "memory", &memory, "op", &op, "verify", &verify,
            "share", &share, "mix", &mix, "threads", &threads, "depth", &depth, "request", &request, "seconds_ns",
            &seconds, "bytes", &bytes, "warmup_ns", &warmup, "offset", &begin, "range", &range, "seed", &seed,
            "interval_ns", &interval, "verify_limit_ns", &limit, "unaligned", &unaligned, "overwrite", &overwrite,
            "device_ok", &device_ok, "cpus", &cpus, "baseline_busy_cpus", &baseline, "settings", &settings) < 0 ||
        protocol != WORKER_PROTOCOL)
        return -EINVAL;
    r = parse_words(&job, path, memory, op, verify, share);
    if (!r)
        r = parse_files(files, &job);
    if (!r)
        r = parse_settings(settings, &job);
    if (r < 0) {
        job_free(&job);
        return r;
    }
    job.mix_percent = (unsigned)mix;
    job.threads = (unsigned)threads;
    job.depth = (unsigned)depth;
    job.request_bytes = (uint64_t)request;
    job.seconds_ns = (uint64_t)seconds;
    job.total_bytes = (uint64_t)bytes;
    job.warmup_ns = (uint64_t)warmup;
    job.begin_bytes = (uint64_t)begin;
    job.range_bytes = (uint64_t)range;
    job.seed = (uint64_t)seed;
    job.interval_ns = (uint64_t)interval;
    job.verify_limit_ns = (uint64_t)limit;
    job.unaligned = unaligned;
    job.overwrite = overwrite;
    job.device_ok = device_ok;
    job.baseline_busy = json_is_number(baseline) ? json_number_value(baseline) : -1;
    snprintf(job.cpus, sizeof(job.cpus), "%s", cpus);
    *ret_job = job;
    return 0;
}

void job_free(struct job *job)
{
    for (size_t i = 0; i < job->n_files; i++)
        free(job->files[i]);
    for (size_t i = 0; i < job->n_settings; i++) {
        free((char *)job->settings[i].key);
        free((char *)job->settings[i].value);
    }
    free(job->files);
    free(job->settings);
    *job = (struct job){0};
}

json_t *json_error(const struct spur_error *e)
{
    json_t *detail = json_filename(e->detail);

    return json_pack("{s:s, s:i, s:s, s:o, s:s}", "source", source_names[e->source], "code", e->code, "operation",
                     e->operation, "detail", detail ? detail : json_string(""), "remedy", e->remedy);
}

void json_error_parse(const json_t *json, struct spur_error *ret)
{
    const char *source = "none", *operation = "", *detail = "", *remedy = "";
    int code = 0, i;

    *ret = (struct spur_error){0};
    json_unpack((json_t *)json, "{s?s, s?i, s?s, s?s, s?s}", "source", &source, "code", &code, "operation", &operation,
                "detail", &detail, "remedy", &remedy);
    i = index_of(source_names, source);
    ret->source = i < 0 ? SPUR_SOURCE_NONE : (enum spur_source)i;
    ret->code = code;
    snprintf(ret->operation, sizeof(ret->operation), "%s", operation);
    snprintf(ret->detail, sizeof(ret->detail), "%s", detail);
    snprintf(ret->remedy, sizeof(ret->remedy), "%s", remedy);
}
