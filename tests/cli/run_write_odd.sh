#!/bin/sh
# SPDX-License-Identifier: MIT
# Writing a file of an odd size: what O_DIRECT cannot write is left as it was, whole blocks, and said.
. "$(dirname "$0")/run_lib.sh"

for path in odirect buffered mmap fanout; do
    prepared f 100000
    for op in write randwrite mix; do
        trial 0 --file "$work/f" --path $path --op $op --request 8K --threads 2 --seconds 100ms --warmup 0s
        holds 'r["verify"]["status"] == "ok"' 'r["complete"]'
    done
    trial 0 --file "$work/f" --path buffered --bytes 100000 --request 4K --verify inline
    holds 'r["verify"]["status"] == "ok"' 'r["verify"]["bytes_timed_verified"] == 100000'
done
