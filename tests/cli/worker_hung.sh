#!/bin/sh
# SPDX-License-Identifier: MIT
# One request that never ends, while others do no more either: the watchdog. Slow requests are none.
. "$(dirname "$0")/run_lib.sh"
requires_strace

prepared f 1M
injected 0 "$work/f" inject=pread64:delay_exit=400000:when=2+1 --request 4K --threads 1 --seconds 1500ms --warmup 0s \
    --stall 1s --verify off
holds 'r["complete"]'
injected 1 "$work/f" inject=pread64:delay_exit=5000000:when=3 --request 4K --threads 1 --seconds 4s --warmup 0s \
    --stall 1s --verify off
says err "no request completed for 1 s"
holds 'not r["complete"]' 'r["stuck_threads"]' 'r["requests"] >= 1'
