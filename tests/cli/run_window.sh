#!/bin/sh
# SPDX-License-Identifier: MIT
# Requests that are slow do not lengthen the window: stragglers are waited for, not counted.
. "$(dirname "$0")/run_lib.sh"
requires_strace

prepared f 1M
for path in buffered odirect; do
    injected 0 "$work/f" inject=pread64:delay_exit=300000:when=3+1 --path $path --request 4K --threads 2 --seconds 1s \
        --warmup 0s --verify off --memory pageable
    holds 'r["seconds"] == 1' '0 < r["requests"] <= 10' 'r["latency_ns"]["max"] >= 290e6' \
        'r["last_done_s"] <= 1' 'r["complete"]'
done
