#!/bin/sh
# SPDX-License-Identifier: MIT
# A second SIGINT does not wait for a worker that cannot drain; the result says that it is not whole.
. "$(dirname "$0")/run_lib.sh"
requires pgrep

prepared f 4M
started --file "$work/f" --request 64K --seconds 60s --warmup 0s
sleep 0.9
kill -STOP "$worker_pid"
sleep 0.3
kill -INT $spur_pid
sleep 0.3
[ -d /proc/$spur_pid ] || fail "one SIGINT did not leave time to drain"
began=$(date +%s)
kill -INT $spur_pid
ended 130
[ $(($(date +%s) - began)) -lt 8 ] || fail "the second SIGINT waited for the worker" # the first one waits for 10 s
holds 'r["complete"] is False' 'r["bytes"] > 0' 'r["requested"]["path"] == "odirect"' 'r["verify"] is None' \
    'r["nulls"]["verify"]'
