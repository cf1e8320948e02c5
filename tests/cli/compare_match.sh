#!/bin/sh
# SPDX-License-Identifier: MIT
# --match inflight: pilots find the settings, which are the arms' from then on; what cannot be matched is refused.
. "$(dirname "$0")/run_lib.sh"
. "$(dirname "$0")/wire_lib.sh"

matched() {
    code=$1
    shift
    expect "$code" "$SPUR" compare --file "$work/mount/f" --memory pageable --arm a:path=buffered --arm b:path=mmap \
        --request 64K --seconds 250ms --warmup 0s --verify-limit 50ms "$@"
}

wire_machine simfs 8
prepared mount/f 1M
matched 0 --match inflight --threads 2 --blocks 1 --results "$work/r.db"
says out "matched: 8."
says out "a 8.1 with threads=2, b 8.1 with threads=2"
matched 0 --match inflight=8 --threads 4 --dry-run
says out "matched: 8.0 wire requests in flight, by pilots: a 8.1 with threads=4, b 8.1 with threads=4"
matched 3 --match inflight=100 --dry-run
says err "arm a cannot keep 100.0 wire requests in flight: nearest is 8.1"
wire_machine_end

expect 0 "$SPUR" report "$work/r.db" --text --json "$work/r.json"
says out "The arms were set to keep about 8."
holds 'len(r["plan"]["matches"]) == 2' 'r["plan"]["matches"][1]["key"] == "threads"' \
    '["threads", "2"] in r["plan"]["arms"][1]["settings"]' 'abs(r["plan"]["matches"][0]["target"] - 8.1) < .5'

# Here nothing counts, or nothing but the page cache is asked.
matched 3 --match inflight
grep -Eq "number in flight is not known|hardly anything of it reaches the wire" "$work/err" || fail "no reason"
matched 2 --match inflight --threads 1,2
says err "has 2 cells"
matched 2 --match 8
says err "neither inflight nor inflight="
