/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "cli/exit.h"
#include "cli/run.h"
#include "core/units.h"

static const char *text_of(const json_t *object, const char *key, const char *absent)
{
    const char *s = json_string_value(json_object_get(object, key));

    return s ? s : absent;
}

static uint64_t number_of(const json_t *object, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(object, key));
}

/* ------------------------------------------------------------------------------------------------ */

static void print_memory(FILE *out, const json_t *memory)
{
    const char *device = text_of(memory, "device_name", NULL);
    const char *because = text_of(memory, "chosen_because", NULL);
    bool emulated = json_is_true(json_object_get(memory, "emulated"));

    fprintf(out, "memory %s", text_of(memory, "name", "?"));
    if (device)
        fprintf(out, " (%s%s)",
                json_is_true(json_object_get(memory, "simulated")) ? "simulated GPU: "
                : emulated                                         ? "emulated GPU: "
                                                                   : "",
                device);
    if (because && !strcmp(text_of(memory, "name", ""), "emulated"))
        fprintf(out, ", for no GPU answers (%.*s)", (int)strcspn(because, ":"), because);
}

void run_text_head(FILE *out, const json_t *effective, const struct job *job)
{
    const json_t *files = json_object_get(effective, "files");
    const json_t *first = json_array_get(files, 0);
    char request[UNITS_TEXT], size[UNITS_TEXT], length[UNITS_TEXT], name[600];
    long long threads = number_of(effective, "threads");

    units_format_bytes(job->request_bytes, request);
    units_format_bytes(number_of(first, "bytes"), size);
    if (job->total_bytes)
        units_format_bytes(job->total_bytes, length);
    else
        units_format_time(job->seconds_ns, length);
    exit_escape(text_of(first, "name", "?"), name, sizeof(name));
    fprintf(out, "spur run: %s %s, %s requests, %lld %s, depth %u, %s, ", job->path, job_op_name(job->op), request,
            threads, threads == 1 ? "thread" : "threads", job->depth, length);
    print_memory(out, json_object_get(effective, "memory"));
    fprintf(out, ", file %s (%s, %s, %s)", name, size, text_of(first, "file_system", "?"),
            text_of(first, "format", "?"));
    if (json_array_size(files) > 1)
        fprintf(out, " and %zu more", json_array_size(files) - 1);
    fprintf(out, ", seed %llu\n", (unsigned long long)job->seed);
    fflush(out);
}

/* ------------------------------------------------------------------------------------------------
 * The table
 */

struct row {
    char rate[UNITS_TEXT], p50[UNITS_TEXT], p99[UNITS_TEXT], requests[UNITS_TEXT], cores[UNITS_TEXT], cost[UNITS_TEXT];
    char verified[100];
};

static void latency_text(const json_t *result, const char *key, char *ret)
{
    const json_t *v = json_object_get(json_object_get(result, "latency_ns"), key);

    if (json_is_integer(v))
        units_format_time((uint64_t)json_integer_value(v), ret);
    else
        snprintf(ret, UNITS_TEXT, "-");
}

static void cpu_text(const json_t *result, struct row *row)
{
    const json_t *process = json_object_get(json_object_get(result, "cpu"), "process");
    double cpu = json_number_value(json_object_get(process, "user_s")) +
                 json_number_value(json_object_get(process, "system_s"));
    double seconds = json_number_value(json_object_get(result, "seconds"));
    double gib = (double)number_of(result, "bytes") / (double)(1 << 30);

    snprintf(row->cores, sizeof(row->cores), seconds > 0 ? "%.2f" : "-", seconds > 0 ? cpu / seconds : 0);
    snprintf(row->cost, sizeof(row->cost), gib > 0 ? "%.3f" : "-", gib > 0 ? cpu / gib : 0);
}

/* What was not done does not stand there as 0. */
static void verified_text(const json_t *result, struct row *row)
{
    const json_t *verify = json_object_get(result, "verify");
    uint64_t timed_bytes = number_of(verify, "bytes_timed_verified"),
             pass_bytes = number_of(verify, "bytes_pass_verified");
    bool read_back = !strncmp(text_of(verify, "pass", ""), "read-back", 9);
    char timed[UNITS_TEXT], pass[UNITS_TEXT];

    if (strcmp(text_of(verify, "status", "-"), "ok")) { /* "unverified": what another program moved */
        snprintf(row->verified, sizeof(row->verified), "%s", text_of(verify, "status", "-"));
        return;
    }
    units_format_bytes(timed_bytes, timed);
    units_format_bytes(pass_bytes, pass);
    if (timed_bytes && pass_bytes)
        snprintf(row->verified, sizeof(row->verified), "ok: %s timed, %s %s", timed, pass,
                 read_back ? "read back" : "pass");
    else if (timed_bytes)
        snprintf(row->verified, sizeof(row->verified), "ok: %s timed", timed);
    else
        snprintf(row->verified, sizeof(row->verified), "ok: %s %s", pass, read_back ? "read back" : "pass");
}

static void make_row(const json_t *result, struct row *row)
{
    const json_t *rate = json_object_get(result, "bytes_per_second");
    const json_t *requests = json_object_get(result, "requests_per_second");

    memset(row, 0, sizeof(*row));
    if (json_is_number(rate))
        units_format_rate(json_number_value(rate), row->rate);
    else
        snprintf(row->rate, sizeof(row->rate), "-");
    snprintf(row->requests, sizeof(row->requests), json_is_number(requests) ? "%.0f" : "-",
             json_number_value(requests));
    latency_text(result, "p50", row->p50);
    latency_text(result, "p99", row->p99);
    cpu_text(result, row);
    verified_text(result, row);
}

static void print_table(FILE *out, const json_t *result, const struct job *job)
{
    const json_t *effective = json_object_get(result, "effective");
    const json_t *memory = json_object_get(effective, "memory");
    struct row row;

    make_row(result, &row);
    fprintf(out, "%-12s %-9s %-9s %13s %11s %9s %9s %6s %8s %-9s %-8s %s\n", "path", "op", "memory", "rate",
            "requests/s", "p50", "p99", "cores", "CPUs/GiB", "observed", "served", "verified");
    fprintf(out, "%-12s %-9s %-9s %13s %11s %9s %9s %6s %8s %-9s %-8s %s\n", job->path, job_op_name(job->op),
            text_of(memory, "name", "?"), row.rate, row.requests, row.p50, row.p99, row.cores, row.cost,
            text_of(result, "observed", "-"), text_of(result, "served", "-"), row.verified);
}

/* "on the wire: 8.1 requests of 1 MiB in flight, 570 us each (simfs)"; nothing where it is not known. */
static void print_wire(FILE *out, const json_t *wire)
{
    const json_t *bytes = json_object_get(wire, "mean_bytes"), *in_flight = json_object_get(wire, "mean_in_flight"),
                 *service = json_object_get(wire, "mean_service_ns"), *sampled = json_object_get(wire, "sampled");
    const char *source = text_of(wire, "source", NULL);
    char size[UNITS_TEXT], time[UNITS_TEXT];

    if (!source || !json_is_integer(json_object_get(wire, "requests")))
        return;
    fprintf(out, "on the wire: ");
    if (!json_is_number(bytes)) {
        fprintf(out, "no request was answered (%s)\n", source);
        return;
    }
    units_format_mean_bytes(json_number_value(bytes), size);
    if (json_is_number(in_flight))
        fprintf(out, "%.1f requests of %s in flight", json_number_value(in_flight), size);
    else
        fprintf(out, "%llu requests of %s", (unsigned long long)number_of(wire, "requests"), size);
    if (json_is_number(service))
        fprintf(out, ", %s each", units_format_time((uint64_t)(json_number_value(service) + 0.5), time));
    if (number_of(wire, "retries"))
        fprintf(out, ", %llu sent again", (unsigned long long)number_of(wire, "retries"));
    if (json_is_false(json_object_get(sampled, "agrees")))
        fprintf(out, "; sampled counts do not agree: %.1f",
                json_number_value(json_object_get(sampled, "mean_in_flight")));
    fprintf(out, " (%s%s)\n", source,
            json_is_true(json_object_get(wire, "others_only")) ? "; others' requests: the page cache served this trial"
                                                               : "");
}

/* Not of the path that moves nothing, nor of a trial that ended before its window held a request. */
static bool has_wire(const json_t *result)
{
    return json_is_integer(json_object_get(result, "bytes")) &&
           (json_is_true(json_object_get(result, "complete")) ||
            number_of(json_object_get(result, "wire"), "requests"));
}

void run_text_result(FILE *out, const json_t *result, const struct job *job)
{
    const json_t *item;
    size_t i;

    print_table(out, result, job);
    if (has_wire(result))
        print_wire(out, json_object_get(result, "wire"));
    json_array_foreach(json_object_get(result, "notes"), i, item) fprintf(out, "note: %s\n", json_string_value(item));
    if (!json_is_true(json_object_get(result, "complete")))
        fprintf(out, "note: incomplete: the trial did not run to its end\n");
    fflush(out);
}

/* ------------------------------------------------------------------------------------------------ */

void run_text_live(FILE *out, const struct worker_progress *p, const struct job *job)
{
    char rate[UNITS_TEXT], p99[UNITS_TEXT];
    double left = (double)job->seconds_ns / 1e9 - p->elapsed_s;

    if (!strcmp(p->phase, "sync")) {
        fprintf(out, "\r\033[Kwaiting for the storage (fsync, untimed)");
    } else if (!strcmp(p->phase, "verify")) {
        fprintf(out, "\r\033[Kverifying (untimed)");
    } else if (p->elapsed_s <= 0) {
        fprintf(out, "\r\033[Kwarming up, %.0f s", -p->elapsed_s);
    } else if (!strcmp(p->phase, "external")) {
        fprintf(out, "\r\033[Kanother program runs, for %.0f s", p->elapsed_s);
    } else {
        units_format_rate((double)p->bytes / p->elapsed_s, rate);
        units_format_time(p->p99_ns, p99);
        fprintf(out, "\r\033[K%s, %.0f requests/s, p99 %s", rate, (double)p->requests / p->elapsed_s, p99);
        if (job->total_bytes && p->bytes)
            left = p->elapsed_s * ((double)job->total_bytes / (double)p->bytes - 1);
        fprintf(out, ", %.0f s left", left > 0 ? left : 0);
    }
    fflush(out);
}

void run_text_live_end(FILE *out)
{
    fprintf(out, "\r\033[K");
    fflush(out);
}
