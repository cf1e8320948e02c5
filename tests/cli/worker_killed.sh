#!/bin/sh
# SPDX-License-Identifier: MIT
# A worker that is killed or crashes is a failed trial with the signal's name, and a result that says so. Exit 1.
. "$(dirname "$0")/run_lib.sh"
requires pgrep

prepared f 4M
for signal in KILL SEGV ABRT BUS; do
    started --file "$work/f" --request 64K --seconds 60s --warmup 0s
    sleep 0.9
    kill -$signal "$worker_pid"
    code=0
    wait $spur_pid || code=$?
    if [ "$code" -ne 1 ] || ! grep -q "SIG$signal" "$work/err"; then
        # Sanitizers turn some signals into an exit.
        [ $signal != KILL ] && grep -q "Sanitizer" "$work/err" && continue
        fail "exit code $code after SIG$signal"
    fi
    one_line
    says_not err "Input/output error" # of no call
    holds 'r["complete"] is False' 'r["bytes"] > 0' 'r["bytes_per_second"] is None' \
        "'SIG$signal' in r['errors'][0]['detail']" 'r["effective"]["path"] == "odirect"'
done
