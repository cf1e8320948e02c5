#!/bin/sh
# SPDX-License-Identifier: MIT
# SIGINT and SIGTERM end a run early: partial results are kept and marked, no process is left.
. "$(dirname "$0")/run_lib.sh"
requires pgrep

prepared f 4M
quiet=
interrupted() { # SIGNAL CODE OPTIONS...
    signal=$1
    end_code=$2
    shift 2
    started --file "$work/f" --request 64K --seconds 20s --warmup 0s --interval 200ms "$@"
    wait_until running
    sleep 0.5
    kill -"$signal" $spur_pid
    ended "$end_code"
    holds 'r["complete"] is False' 'r["requests"] > 0' '0 < r["seconds"] < 20' \
        'sum(p["requests"] for p in r["parts"]) == r["requests"]' \
        'sum(i["requests"] for i in r["intervals"]) == r["requests"]' \
        'r["bytes"] is None or r["bytes"] == r["requests"] << 16'
}
interrupted INT 130 --path null
interrupted INT 130 --path buffered --memory emulated
interrupted INT 130 --path odirect --memory emulated
interrupted INT 130 --path odirect --op write
interrupted INT 130 --path fanout --memory emulated --depth 4
interrupted TERM 143 --path odirect
interrupted TERM 143 --path fanout --op mix --depth 4
