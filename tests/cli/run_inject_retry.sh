#!/bin/sh
# SPDX-License-Identifier: MIT
# An interrupted call is retried; a short transfer goes on from where it stopped.
. "$(dirname "$0")/run_lib.sh"
requires_strace

prepared f 1M
for path in buffered odirect; do
    injected 0 "$work/f" inject=pread64:error=EINTR:when=2+2 --path $path --request 64K --bytes 1M --threads 2 \
        --verify inline --memory pageable
    holds 'r["bytes"] == 1 << 20' 'r["verify"]["bytes_timed_verified"] == 1 << 20'
    injected 0 "$work/f" inject=pwrite64:error=EINTR:when=1+2 --path $path --op write --request 64K --bytes 1M \
        --threads 2 --memory pageable
    holds 'r["bytes"] == 1 << 20' 'r["verify"]["bytes_pass_verified"] == 1 << 20'
done
