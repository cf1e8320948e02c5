#!/bin/sh
# SPDX-License-Identifier: MIT
# fio as an arm: the job in its options, its own figures, marked and unverified; the file stays as it was.
. "$(dirname "$0")/external_lib.sh"
requires fio

prepared f 8M
mv "$work/f" "$work/a:b" # fio's own lists are divided by colons
before=$(fingerprint "$work/a:b")
fio() {
    trial 0 --file "$work/a:b" --path external --set tool=fio --memory pageable --request 64K "$@"
    holds 'r["complete"] and not r["errors"] and r["external"]["tool"] == "fio"' 'r["bytes"] == r["requests"] * 65536 > 0' \
        '{"--readonly", "--allow_file_create=0"} < set(r["external"]["command"])' \
        'r["verify"]["status"] == "unverified" and r["verify"]["bytes_timed_verified"] == 0' \
        'abs(r["bytes"] / r["seconds"] - r["bytes_per_second"]) < 1' 'r["latency_ns"]["p50"] > 0' 'r["parts"] == []' \
        'r["latency_ns"]["min"] <= r["latency_ns"]["mean"] <= r["latency_ns"]["max"]' 'r["external"]["latency_source"]' \
        'len(r["external"]["sha256"]) == 64 and r["external"]["version"].startswith("fio-")' \
        'not any("closed down" in n for n in r["notes"])' \
        'r["cpu"]["machine"] is None and r["nulls"]["cpu.machine"] and r["wire"] is None and r["nulls"]["wire"]'
}
fio --seconds 100ms --warmup 50ms --threads 2
holds '"--ramp_time=50000us" in r["external"]["command"] and "--offset_increment=4194304" in r["external"]["command"]' \
    '.09 < r["seconds"]' 'r["observed"] == "host"'
fio --bytes 4M --threads 2 --set direct=no --set args="--thinktime=0  --nice=1"
holds 'r["bytes"] == 4 << 20' '{"--io_size=2097152", "--direct=0", "--nice=1"} <= set(r["external"]["command"])' \
    'r["latency_ns"]["p99"] is None and r["nulls"]["latency_ns.p99"]'
fio --seconds 50ms --warmup 0s --op randread --offset 4M --range 2M --set ioengine=libaio --depth 4
holds '{"--rw=randread", "--offset=4194304", "--size=2097152", "--iodepth=4"} <= set(r["external"]["command"])'
fio --seconds 100ms --warmup 50ms --threads 2 --set ioengine=libaio --depth 8 # some in flight when the ramp ends
[ "$before" = "$(fingerprint "$work/a:b")" ] || fail "the file is not what it was"
