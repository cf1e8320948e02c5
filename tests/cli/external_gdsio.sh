#!/bin/sh
# SPDX-License-Identifier: MIT
# gdsio's line is understood in its forms, by a stand-in that prints them; one that does not fit together is refused.
. "$(dirname "$0")/external_lib.sh"

prepared f 1M
stand_in
export FAKE_GDSIO=
gdsio() { # CODE OPTIONS...
    code=$1
    shift
    trial "$code" --file "$work/f" --path external --set tool=gdsio --set program="$work/gdsio" --memory pageable \
        --request 64K --seconds 1 --warmup "${warmup:-0s}" "$@"
}
warmup=2s gdsio 0 --threads 2
warmup=
holds 'not any("short-run" in n for n in r["notes"])' 'r["requests"] == 5000 and r["bytes"] == 5000 << 16 and r["seconds"] == 1' 'r["latency_ns"]["mean"] == 400000' \
    'r["latency_ns"]["p50"] is None and "average" in r["nulls"]["latency_ns.p50"]' 'r["cpu"]["process"]["user_s"] >= 0' \
    'r["external"]["output"].startswith("IoType: READ XferType: CPUONLY Threads: 2 ")' \
    'r["external"]["version"] == "gdsio version :1.11" and r["verify"]["status"] == "unverified"' 'r["observed"] == "unknown"'
grep -q -- '-T 2$' "$work/calls" && grep -q -- '-w 2 -s 1024K -i 64K -x 1 -I 0 -T 1$' "$work/calls" || fail "$(cat "$work/calls")"
FAKE_GDSIO=old
gdsio 0 --threads 2
holds 'r["requests"] == 5000 and r["seconds"] == 1'
FAKE_GDSIO=
holds 'not any("closed down" in n for n in r["notes"])'
gdsio 0 --set xfer=6 --threads 1 --depth 4 --op randread --seed 77
grep -q -- '-I 2 -k 77 -T 1$' "$work/calls" || fail "$(cat "$work/calls")"
holds 'r["requests"] == 5000'
gdsio 3 --set xfer=0 --set json="$work/j.json"
says err "j.json: No such file or directory"
echo '{}' >"$work/j.json"
gdsio 0 --set xfer=0 --set library="$work/f" --set json="$work/j.json" --offset 128K --threads 1
grep -q "libcufile.so.0 -> $(realpath "$work/f")" "$work/libraries" || fail "$(cat "$work/libraries")"
grep -q "^$work/j.json" "$work/variables" && grep -q -- '-m 3 .* -o 128K' "$work/calls" || fail "$(cat "$work/calls")"
for wrong in ops fewer rate set xfer negative words twice more silent; do
    FAKE_GDSIO=$wrong
    gdsio 1 --set xfer=0 --threads 2
    says err "output not understood"
    [ $wrong = silent ] || says err "IoType: READ"
    holds 'r["bytes_per_second"] is None and r["bytes"] is None and not r["complete"] and r["external"]["command"]'
done
FAKE_GDSIO=status
gdsio 1
says err "gdsio ended with status 255: unable to open file"
says_not err "Input/output error"
FAKE_GDSIO=crash
gdsio 1
says err "gdsio was killed by SIGSEGV: cuda runtime api call failed"
