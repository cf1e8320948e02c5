#!/bin/sh
# SPDX-License-Identifier: MIT
# No process outlives spur, not even after kill -9.
. "$(dirname "$0")/run_lib.sh"
requires pgrep

prepared f 4M
for memory in pageable emulated; do
    started --file "$work/f" --memory $memory --request 64K --seconds 60s --warmup 0s
    sleep 0.1
    kill -KILL $spur_pid
    wait_until gone "$worker_pid"
    wait $spur_pid
done
started --file "$work/f" --seconds 60s
kill -STOP "$worker_pid"
kill -KILL $spur_pid
wait_until gone "$worker_pid"
