#!/bin/sh
# SPDX-License-Identifier: MIT
# A file system that refuses the first transfer: a clear message, and no rate. Exit 1.
. "$(dirname "$0")/run_lib.sh"
requires_strace

prepared f 1M
for path in buffered odirect; do
    injected 1 "$work/f" inject=pwrite64:error=EINVAL:when=1+ --path $path --op write --request 4K --seconds 200ms \
        --warmup 0s --threads 1
    one_line
    says err "at offset 0"
    says err "--path buffered"
    holds 'r["bytes_per_second"] is None' 'r["nulls"]["bytes_per_second"]' 'r["latency_ns"] is None' 'not r["complete"]'
done
