#!/bin/sh
# SPDX-License-Identifier: MIT
# --match inflight over several cells: each has its own settings, which its trials run with and which every report names.
. "$(dirname "$0")/run_lib.sh"
. "$(dirname "$0")/simfs_lib.sh"

# The kernel cuts 1 MiB into four: the eight in flight that are asked for are two requests there, and eight of 256K.
simfs --size 8M --latency 60ms --rpc 256K
cells() {
    expect "$1" "$SPUR" compare --file "$mount/data.0" --memory pageable --arm a:path=odirect --arm b:path=fanout,threads=1 \
        --request 256K,1M --match inflight=8 --seconds 400ms --warmup 0s --verify off --blocks 1 "$2" "$work/$3"
}
cells 2 --write-job job.ini
says err "'--match' cannot be written into a job file"
cells 0 --results r.db
grep -qE "matched in cell request 256K: 8.0 wire requests in flight, by pilots: a [789]\.[0-9] with threads=([789]|10), b [789]\.[0-9] with depth=([789]|10)$" "$work/out" ||
    fail "the plan does not say it"
grep -qE "matched in cell request 1M: 8.0 .*: a [789]\.[0-9] with threads=[23], b [789]\.[0-9] with depth=[23]$" "$work/out" || fail "nor of 1M"
expect 0 "$SPUR" compare --resume "$work/r.db" # nothing is left to do, and the plan is the same
expect 0 "$SPUR" report "$work/r.db" --text --json "$work/r.json"
says out "request 256K: the arms were set to keep about 8.0 wire"
says out "request 1M: the arms were set to keep about 8.0 wire"
holds '[m["cell"] for m in r["plan"]["matches"]] == 2 * ["request 256K"] + 2 * ["request 1M"]' \
    'not any(k == "depth" for a in r["plan"]["arms"] for k, v in a["settings"])' \
    'all(6 < a["figures"]["wire_in_flight"]["center"] < 10 for c in r["cells"] for a in c["arms"])'
