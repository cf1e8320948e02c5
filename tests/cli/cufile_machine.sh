#!/bin/sh
# SPDX-License-Identifier: MIT
# Where the library does not say the road, the machine's counters do, as far as they can: RDMA ports for a client's own
# RDMA, nvidia-fs before 1.15 and only while its counters are on; in a host path's window it has to stand still.
. "$(dirname "$0")/cufile_lib.sh"
. "$(dirname "$0")/wire_lib.sh"

prepared f 4M
# timed CODE VERSION OPTIONS...: 200 ms of it.
timed() {
    timed_code=$1
    timed_version=$2
    shift 2
    trial "$timed_code" --file "$work/f" --path cufile --memory cuda:0 --seconds 200ms --warmup 0s --request 256K --threads 2 \
        --set library="$(library "$timed_version")" "$@"
}
export FAKE_CUFILE_ROAD=user FAKE_CUFILE_LATENCY_US=2000
timed 0 1.15.1.6
holds "r['observed'] == 'unknown' and r['evidence'][0]['value']['operations'] > 0"
wire_machine rdma 0
timed 0 1.15.1.6
holds "r['evidence'][0]['source'] == 'library statistics, RDMA ports'" "r['observed'] == 'user-rdma' and r['evidence'][0]['strength'] == 'supporting'" "r['evidence'][0]['value']['posix'] == 0"
timed 0 1.15.1.6 --set route=compat
holds "r['observed'] == 'compat' and r['evidence'][0]['source'] == 'library statistics'" # what the library counted comes first
wire_machine_end
mkdir -p "$work/root/proc/driver/nvidia-fs" "$work/root/sys/module/nvidia_fs/parameters" # the library counts there
for enabled in 1 0; do
    echo $enabled >"$work/root/sys/module/nvidia_fs/parameters/rw_stats_enabled"
    SPUR_ROOT="$work/root" FAKE_CUFILE_ROAD=nvfs cufile 0 1.9.1.3
    mv "$work/r.json" "$work/$enabled.json"
done
cp "$work/1.json" "$work/r.json"
holds "r['observed'] == 'nvidia-fs' and r['evidence'][0]['strength'] == 'strong'" \
    "r['evidence'][0]['source'] == '/proc/driver/nvidia-fs/stats' and r['evidence'][0]['value'] is None" \
    "not any(e['source'] == 'library statistics' for e in r['evidence'])" \
    "any(e['source'] == '/proc/driver/nvidia-fs/stats' and e['value'] and e['value']['reads'] >= r['requests'] for e in r['evidence'])"
cp "$work/0.json" "$work/r.json"
holds "r['observed'] == 'unknown'" "any('counters are off' in e['says'] for e in r['evidence'])"
wire_machine nvfs 1
trial 0 --file "$work/f" --path buffered --memory pageable --seconds 200ms --warmup 0s
holds "r['observed'] == 'host' and any('nvidia-fs counters moved' in n for n in r['notes'])"
wire_machine_end
no_litter
