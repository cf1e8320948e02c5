#!/bin/sh
# SPDX-License-Identifier: MIT
# What is in flight together: the pieces of one read, writes of several callers; those of spur run, too.
. "$(dirname "$0")/run_lib.sh"
. "$(dirname "$0")/simfs_lib.sh"

# together OP: the most that were in flight at a time, by the log.
together() {
    python3 - "$work/log" "$1" <<'END'
import sys
ends = []
for line in open(sys.argv[1]):
    w = line.split()
    if w[0] != "#" and w[1] == sys.argv[2]:
        ends += [(int(w[0]), 1), (int(w[0]) + int(w[6]), -1)]
n = most = 0
for at, step in sorted(ends):
    n += step
    most = max(most, n)
print(most)
END
}

simfs --size 4M --rpc 64K --latency 50ms --log "$work/log"
dd if="$mount/data.0" of=/dev/null bs=2M count=1 iflag=direct 2>/dev/null
pids=
for i in 0 1 2 3; do
    dd if=/dev/zero of="$mount/data.0" bs=64K count=4 seek=$((i * 4)) oflag=direct conv=notrunc 2>/dev/null &
    pids="$pids $!"
done
# shellcheck disable=SC2086
wait $pids
unmounted
[ "$(together read)" -eq 32 ] || fail "$(together read) pieces of 32 were in flight together"
[ "$(together write)" -gt 1 ] || fail "writes were in flight one after the other"

for path in odirect fanout; do # eight are kept in flight; what reads the file besides is not in the way
    simfs --size 4M --rpc 64K --latency 50ms --log "$work/log"
    keep="--threads 8"
    [ $path = odirect ] || keep="--depth 8"
    # shellcheck disable=SC2086
    trial 0 --file "$mount/data.0" --path $path --op write --overwrite --request 64K $keep --bytes 4M --memory pageable --verify off
    holds 'r["wire"]["mean_in_flight"] > 4'
    unmounted
    [ "$(together write)" -ge 7 ] || fail "$(together write) writes of $path were in flight together"
done

simfs --size 4M --rpc 64K --latency 50ms --log "$work/log" --direct-io
trial 0 --file "$mount/data.0" --path buffered --op write --overwrite --request 64K --threads 8 --bytes 2M --verify off \
    --memory pageable
unmounted
[ "$(together write)" -gt 1 ] || fail "writes of spur run were in flight one after the other"
