/* SPDX-License-Identifier: MIT */
#include "store/parts.h"

#define FIGURES                                                                                                        \
    "row, status, bytes_per_second, requests_per_second, latency_p50_ns, latency_p99_ns, cpu_process_s_per_gib,"       \
    " cpu_machine_s_per_gib, process_user_cpus, process_system_cpus, machine_user_cpus, machine_system_cpus"
#define REST                                                                                                           \
    "observed, served, verify, emulated, simulated, began_realtime_ns, t0_monotonic_ns, window_s, wall_s, error"       \
    " FROM trials ORDER BY row"

static const char *const statements[N_STATEMENTS] = {
    [STATEMENT_DROP_INTERRUPTED] = "DELETE FROM trials WHERE row = ? AND status = 'interrupted'",
    [STATEMENT_ADD_TRIAL] =
        "INSERT INTO trials (row, status, bytes_per_second, requests_per_second, latency_p50_ns, latency_p99_ns,"
        " cpu_process_s_per_gib, cpu_machine_s_per_gib, process_user_cpus, process_system_cpus, machine_user_cpus,"
        " machine_system_cpus, wire_in_flight, wire_mean_bytes, wire_service_ns, wire_per_request, wire_retries,"
        " observed, served, verify, emulated, simulated, began_realtime_ns, t0_monotonic_ns, window_s, wall_s, error)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [STATEMENT_ADD_RESULT] = "INSERT INTO results (row, json) VALUES (?, ?)",
    [STATEMENT_ADD_HISTOGRAM] = "INSERT INTO histograms (row, buckets) VALUES (?, ?)",
    [STATEMENT_ADD_INTERVAL] =
        "INSERT INTO intervals (row, number, begin_s, end_s, bytes, requests) VALUES (?, ?, ?, ?, ?, ?)",
    [STATEMENT_ADD_EVENT] = "INSERT INTO events (kind, realtime_ns, block, cell, arm, text) VALUES (?, ?, ?, ?, ?, ?)",
    [STATEMENT_TRIALS] = "SELECT " FIGURES
                         ", wire_in_flight, wire_mean_bytes, wire_service_ns, wire_per_request, wire_retries, " REST,
    [STATEMENT_TRIALS_1] = "SELECT " FIGURES ", NULL, NULL, NULL, NULL, NULL, " REST,
    [STATEMENT_EVENTS] = "SELECT kind, realtime_ns, block, cell, arm, text FROM events ORDER BY event",
    [STATEMENT_RESULT] =
        "SELECT r.json, h.buckets FROM results r LEFT JOIN histograms h ON h.row = r.row WHERE r.row = ?",
    [STATEMENT_INTERVALS_OF_ROW] =
        "SELECT row, begin_s, end_s, bytes, requests FROM intervals WHERE row = ? ORDER BY number",
    [STATEMENT_INTERVALS] = "SELECT row, begin_s, end_s, bytes, requests FROM intervals ORDER BY row, number",
    [STATEMENT_FACTS] =
        "SELECT row, CASE WHEN json_valid(json) THEN json_extract(json, '$.seconds', '$.effective.threads',"
        " '$.effective.depth', '$.effective.path_facts.workers', '$.environment.begin.cpu.allowed',"
        " '$.environment.begin.cpu.online', '$.cpu.machine.baseline_busy_cpus', '$.wire.throttled',"
        " '$.wire.sampled.agrees', '$.wire.network', '$.wire.rdma', '$.wire.items', '$.environment.begin.gpu.throttle',"
        " '$.environment.end.gpu.throttle', '$.verify.against',"
        " '$.effective.path_facts.library_version') END FROM results ORDER BY row",
};

int store_statement(struct store *s, enum store_statement which, sqlite3_stmt **ret, struct spur_error *e)
{
    int r = s->statements[which] ? 0 : database_prepare(&s->database, statements[which], &s->statements[which], e);

    if (!r)
        *ret = s->statements[which];
    return r;
}
