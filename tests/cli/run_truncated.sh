#!/bin/sh
# SPDX-License-Identifier: MIT
# A file that is truncated while it is read: an error that names it and the offset, no SIGBUS. Exit 1.
. "$(dirname "$0")/run_lib.sh"

quiet=
for path in buffered odirect mmap fanout; do
    for memory in pageable emulated; do
        prepared f 8M
        started --file "$work/f" --path $path --memory $memory --request 64K --threads 2 --seconds 20s --warmup 0s
        wait_until running
        sleep 0.2
        truncate -s 1M "$work/f"
        ended 1
        says err "$work/f"
        says err "truncated"
        holds 'not r["complete"]' 'r["errors"]' 'r["bytes"] > 0'
    done
done
