#!/bin/sh
# SPDX-License-Identifier: MIT
# What a mount counted is what the result says: requests of 1 MiB, 570 us each, 8.1 in flight, on whatever was asked for.
. "$(dirname "$0")/run_lib.sh"
. "$(dirname "$0")/wire_lib.sh"

wire_machine simfs 8
prepared mount/f 4M
set -- --file "$work/mount/f" --path buffered --request 64K --threads 1 --warmup 0s --memory pageable
# Of a window with samples enough: a sanitizer makes each dear, and they are the fewer then.
sampled() {
    for seconds in 500ms 2s 8s; do
        rm -f "$work/r.json"
        expect 0 "$SPUR" run "$@" --seconds $seconds --json "$work/r.json"
        grep -q "window was too short: fewer than 10 samples" "$work/r.json" || break
    done
}

sampled "$@"
says out "on the wire: 8.1 requests of 1 MiB in flight, 570 us each (simfs)"
holds 'r["wire"]["source"] == "simfs"' 'r["wire"]["mean_bytes"] == 1 << 20' 'r["wire"]["mean_service_ns"] == 570000' \
    'abs(r["wire"]["mean_in_flight"] - 8.1) < .05' 'r["wire"]["sampled"]["mean_in_flight"] == 8' \
    'r["wire"]["sampled"]["agrees"] is True' 'r["wire"]["server_cpu_seconds"] > 0' 'r["served"] in ("simulated", "cache", None)' \
    '[e["value"]["read_bytes"] for e in r["evidence"] if e["source"] == "mount"] == [r["wire"]["read"]["bytes"]]' \
    'r["wire"]["items"][0]["rate_bytes_per_second"] is None' 'any("simulated" in n for n in r["notes"])'
wire_machine_end
wire_machine simfs 30
sampled "$@"
says out "in flight, 570 us each; sampled counts do not agree: 30.0 (simfs)"
holds 'r["wire"]["sampled"]["mean_in_flight"] == 30' 'r["wire"]["sampled"]["agrees"] is False'
wire_machine_end
wire_machine nfs 8
sampled "$@"
holds 'r["wire"]["source"] == "nfs"' 'r["wire"]["mean_bytes"] == 1 << 20' 'r["wire"]["requests"] > 0' \
    'abs(r["wire"]["mean_service_ns"] / 570000 - 1) < .05' 'r["wire"]["mean_in_flight"] > 0' 'r["wire"]["retries"] == 0' \
    'r["wire"]["sampled"]["mean_in_flight"] == 0' 'r["wire"]["server_cpu_seconds"] is None' \
    'r["wire"]["items"][0]["transports"] == 1'
wire_machine_end
