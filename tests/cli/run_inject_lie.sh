#!/bin/sh
# SPDX-License-Identifier: MIT
# A read that says it moved bytes but did not is caught by verification, which names the offset. Exit 1.
. "$(dirname "$0")/run_lib.sh"
requires_strace

for memory in pageable emulated; do
    for path in buffered odirect; do
        prepared f 1M
        injected 1 "$work/f" inject=pread64:retval=4096:when=5 --path $path --request 4K --bytes 1M --threads 1 \
            --memory $memory --verify inline
        says err "$work/f: offset 164"
        holds 'r["verify"]["status"] == "failed"' 'r["verify"]["blocks_bad"] == 1' \
            'r["verify"]["bytes_timed_verified"] == (1 << 20) - 4096' 'r["errors"][0]["code"] == 3'
        injected 1 "$work/f" inject=pwrite64:retval=4096:when=5 --path $path --op write --request 4K --bytes 1M \
            --threads 1 --memory $memory
        says err ": offset 16"
        holds 'r["verify"]["status"] == "failed"'
    done
done
