#!/bin/sh
# SPDX-License-Identifier: MIT
# --match inflight: pilots find the settings, which are the arms' from then on; what cannot be matched is refused.
. "$(dirname "$0")/run_lib.sh"
. "$(dirname "$0")/simfs_lib.sh"

matched() {
    code=$1
    shift
    expect "$code" "$SPUR" compare --memory pageable --arm a:path=odirect --arm b:path=odirect,request=128K --request 64K \
        --seconds 400ms --warmup 0s --verify-limit 50ms "$@"
}

# A wait so long that what else runs on the machine hardly counts: a thread keeps one on the wire.
simfs --size 4M --latency 60ms
found='a [34]\.[0-9] with threads=[0-9]*, b [34]\.[0-9] with threads=[0-9]*$'
matched 0 --file "$mount/data.0" --match inflight --threads 4 --blocks 1 --results "$work/r.db"
grep -q "matched: [34]\.[0-9] wire requests in flight, by pilots: $found" "$work/out" || fail "the plan does not say it"
matched 0 --file "$mount/data.0" --match inflight=4 --threads 1 --dry-run
grep -q "matched: 4.0 wire requests in flight, by pilots: $found" "$work/out" || fail "--dry-run does not say it"
matched 3 --file "$mount/data.0" --match inflight=1000 --dry-run
says err "arm a cannot keep 1000.0 wire requests in flight: nearest is "
matched 3 --file "$mount/data.0" --match inflight=8 --threads 1,2 --dry-run # an axis stays as it is: depth is what is left
says err "cannot keep"
says err "in flight in cell threads 1: nearest is"
matched 2 --file "$mount/data.0" --match inflight --threads 1,2 --depth 1,2 --dry-run
says err "threads and depth of arm"
matched 2 --file "$mount/data.0" --match 8 --dry-run
says err "neither inflight nor inflight="

expect 0 "$SPUR" report "$work/r.db" --text --json "$work/r.json"
says out "The arms were set to keep about "
holds 'len(r["plan"]["matches"]) == 2' 'all(m["key"] == "threads" for m in r["plan"]["matches"])' \
    '["threads", str(r["plan"]["matches"][1]["value"])] in r["plan"]["arms"][1]["settings"]' \
    'abs(r["plan"]["matches"][0]["in_flight"] - 4) < 1'

# In memory nothing counts.
shm=$(mktemp -d /dev/shm/spur-test.XXXXXX 2>/dev/null) || exit 0
trap 'simfs_end; rm -rf "$work" "$shm"' EXIT
"$SPUR" prepare "$shm/f" --size 1M >/dev/null || fail "cannot prepare a file in memory"
matched 3 --file "$shm/f" --match inflight --dry-run
says err "the number in flight is not known"
