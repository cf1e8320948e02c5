#!/bin/sh
# SPDX-License-Identifier: MIT
# Another process writes the file during a trial: a reader is told of it, and a writer whose blocks are gone is told why.
# Reading and one's own writing are no change, by any path.
. "$(dirname "$0")/run_lib.sh"

prepared f 1M
quick="--file $work/f --request 64K --memory pageable --warmup 0s --verify-limit 300ms"
# shellcheck disable=SC2086
for path in buffered mmap odirect fanout; do
    for op in read mix; do
        trial 0 $quick --path $path --op $op --bytes 1M
        holds 'r["files_modified"] == []' 'not any("modified" in n for n in r["notes"])'
    done
done
# shellcheck disable=SC2086
{
    quiet='' started $quick --seconds 60s
    wait_until running
    "$SPUR" run --quiet $quick --op write --bytes 1M
    kill -INT "$spur_pid"
    ended 130
    holds 'r["files_modified"] == r["requested"]["files"]' 'any(n.startswith("modified: another process") for n in r["notes"])'
    quiet='' started $quick --op write --seconds 60s
    wait_until running
    expect 1 "$SPUR" run --quiet $quick --op write --seconds 200ms
    says err "another process"
    kill -INT "$spur_pid"
    ended 130
}
