#!/bin/sh
# SPDX-License-Identifier: MIT
# SIGINT while the trial is being set up, and while it is being verified.
. "$(dirname "$0")/run_lib.sh"
requires pgrep

prepared f 4M
n=0
until [ $n -eq 20 ]; do
    started --file "$work/f" --request 64K --seconds 60s --warmup 0s
    sleep 0.2 # the first half second watches the idle machine
    kill -INT $spur_pid
    ended 130
    holds 'r["complete"] is False' 'r["bytes"] == 0 or r["bytes"] is not None or r["nulls"]["bytes"]'
    python3 -c 'import json, sys; sys.exit(bool(json.load(open(sys.argv[1]))["bytes"]))' "$work/r.json" && break
    n=$((n + 1)) # a loaded machine was so late that the trial had begun
done
[ $n -lt 20 ] || fail "no signal came while the trial was being set up"

prepared f 256M
started --file "$work/f" --request 4K --bytes 4K --op randread --memory emulated --threads 1
sleep 0.5
kill -INT $spur_pid 2>/dev/null || skip "256 MiB were verified in half a second"
code=0
wait $spur_pid || code=$?
[ $code -ne 0 ] || skip "256 MiB were verified in half a second"
[ $code -eq 130 ] || fail "exit code $code"
gone "$worker_pid" || fail "the worker outlived spur"
holds 'r["complete"] is False' 'r["bytes"] == 4096' '0 < r["verify"]["bytes_pass_verified"] < 256 << 20'
