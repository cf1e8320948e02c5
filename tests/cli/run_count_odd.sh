#!/bin/sh
# SPDX-License-Identifier: MIT
# The last request of a file of an odd size is shorter, and counted as what it is.
. "$(dirname "$0")/run_lib.sh"

for size in 4097 10000 1048577; do
    prepared f $size
    for path in buffered mmap odirect fanout; do
        for memory in pageable emulated; do
            trial 0 --file "$work/f" --path $path --memory $memory --request 4K --bytes $size --threads 2 --verify inline
            holds "r['bytes'] == $size" "r['requests'] == ($size + 4095) // 4096" \
                "r['verify']['bytes_timed_verified'] + r['verify']['bytes_unjudged'] == $size" \
                'r["verify"]["status"] == "ok"'
        done
    done
done
