#!/bin/sh
# SPDX-License-Identifier: MIT
# Each kind of fault is seen by spur run as what it is: the file and the offset are named, and no result looks whole.
. "$(dirname "$0")/run_lib.sh"
. "$(dirname "$0")/simfs_lib.sh"

# with SPEC PATH CODE WORDS: of a read of the whole file.
with() {
    simfs --size 2M --rpc 64K --log "$work/log" --faults "$1"
    trial "$3" --file "$mount/data.0" --path "$2" --request 64K --threads 1 --bytes 2M --memory pageable --verify inline
    [ "$3" -eq 0 ] || says err "$mount/data.0"
    [ "$3" -eq 0 ] || holds 'not r["complete"] or r["verify"]["status"] == "failed"'
    [ -z "$4" ] || says err "$4"
    simfs_end
    kind=${1%%[:@]*}
    grep -q " $kind\$" "$work/log" || fail "the log has no $kind"
}

with "error:EIO@offset=1M-1600K" odirect 1 "nput/output error"
with "error:EIO@n=9" fanout 1 "nput/output error"
with "wrong@offset=1100K" fanout 1 "damaged payload"
with "wrong@offset=1100K" odirect 1 "damaged payload"
with "truncate@offset=1M" odirect 1 "truncated"
with "truncate@offset=1M" buffered 1 "truncated"
with "error:ESTALE@offset=1M" odirect 1 "offset 1048576"
with "short:0@offset=1M" odirect 1 "offset 1048576"
with "short:12K@offset=1M-1088K" odirect 0 ""
with "delay:100ms@n=8" odirect 0 ""
holds 'r["latency_ns"]["max"] >= 99000000'
with "gone:200ms@n=8" odirect 0 ""
holds 'r["latency_ns"]["max"] >= 190000000'
# What ends before the window has no figures of it.
simfs --size 2M --faults "error:EIO@n=20"
expect 1 "$SPUR" run --file "$mount/data.0" --path odirect --request 64K --threads 1 --memory pageable --seconds 1
says_not out "on the wire"
simfs_end
