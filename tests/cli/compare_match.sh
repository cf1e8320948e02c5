#!/bin/sh
# SPDX-License-Identifier: MIT
# --match inflight: pilots find the settings, which are the arms' from then on; what cannot be matched is refused.
. "$(dirname "$0")/run_lib.sh"
. "$(dirname "$0")/wire_lib.sh"

matched() {
    code=$1
    shift
    expect "$code" "$SPUR" compare --memory pageable --arm a:path=buffered --arm b:path=mmap --request 64K --seconds 250ms \
        --warmup 0s --verify-limit 50ms "$@"
}

# The counters lag a little where the machine has much to do.
found='a [6-9]\.[0-9] with threads=[0-9]*, b [6-9]\.[0-9] with threads=[0-9]*$'

wire_machine simfs 8
prepared mount/f 1M
matched 0 --file "$work/mount/f" --match inflight --threads 2 --blocks 1 --results "$work/r.db"
grep -q "matched: [6-9]\.[0-9] wire requests in flight, by pilots: $found" "$work/out" || fail "the plan does not say it"
matched 0 --file "$work/mount/f" --match inflight=8 --threads 4 --dry-run
grep -q "matched: 8.0 wire requests in flight, by pilots: $found" "$work/out" || fail "--dry-run does not say it"
matched 3 --file "$work/mount/f" --match inflight=100 --dry-run
says err "arm a cannot keep 100.0 wire requests in flight: nearest is "
matched 2 --file "$work/mount/f" --match inflight --threads 1,2 --dry-run
says err "has 2 cells"
matched 2 --file "$work/mount/f" --match 8 --dry-run
says err "neither inflight nor inflight="
wire_machine_end

expect 0 "$SPUR" report "$work/r.db" --text --json "$work/r.json"
says out "The arms were set to keep about "
holds 'len(r["plan"]["matches"]) == 2' 'all(m["key"] == "threads" for m in r["plan"]["matches"])' \
    '["threads", str(r["plan"]["matches"][1]["value"])] in r["plan"]["arms"][1]["settings"]' \
    'abs(r["plan"]["matches"][0]["in_flight"] - 8.1) < 2'

# In memory nothing counts.
[ "${wire_root#/dev/shm/}" != "$wire_root" ] || exit 0
cp "$work/mount/f" "$wire_root/f"
matched 3 --file "$wire_root/f" --match inflight --dry-run
says err "the number in flight is not known"
