#!/bin/sh
# SPDX-License-Identifier: MIT
# Requests that a mount counted beside a trial that the page cache served are others': said, and no figures of an arm.
. "$(dirname "$0")/compare_lib.sh"
. "$(dirname "$0")/wire_lib.sh"

WIRE_SLOW=2000
export WIRE_SLOW
wire_machine simfs 0
prepared mount/f 1M
expect 0 "$SPUR" run --file "$work/mount/f" --memory pageable --path buffered --request 64K --threads 1 --seconds 400ms --warmup 0s \
    --json "$work/r.json"
says out "(simfs; others' requests: the page cache served this trial)"
holds 'r["served"] == "cache"' 'r["wire"]["others_only"] is True' 'r["wire"]["requests"] > 0' \
    'any("others" in n for n in r["wire"]["notes"])'
expect 0 "$SPUR" compare --results "$work/r.db" --file "$work/mount/f" --memory pageable --arm a:path=buffered --arm b:path=mmap \
    --request 64K --threads 1 --seconds 250ms --warmup 0s --blocks 1 --verify off
wire_machine_end
expect 0 "$SPUR" report "$work/r.db"
says_not out "On the wire:"
report_holds "$work/r.db" 'all(a["served"] == "cache" and a["figures"]["wire_mean_bytes"]["center"] is None and
    a["wire_retries"] is None for a in r["cells"][0]["arms"])' 'all(t["figures"]["wire_in_flight"] is None for t in r["trials"])'
# Where the mount counted more than a tenth of what was read, it may be the trial's.
WIRE_SLOW=1
wire_machine simfs 8
prepared mount/f 1M
trial 0 --file "$work/mount/f" --memory pageable --path buffered --request 64K --threads 1 --seconds 250ms --warmup 0s
holds 'r["wire"]["others_only"] is False'
wire_machine_end
