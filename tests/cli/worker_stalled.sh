#!/bin/sh
# SPDX-License-Identifier: MIT
# A worker that falls silent is ended by the watchdog, which says what each thread was doing. Exit 1.
. "$(dirname "$0")/run_lib.sh"
requires pgrep

prepared f 4M
started --file "$work/f" --request 64K --threads 2 --seconds 60s --warmup 0s --stall 1s --memory pageable
sleep 0.9
kill -STOP "$worker_pid"
ended 1
one_line
says err "no request completed for 1 s"
says err "spur-0"
says err "--stall"
holds 'r["complete"] is False' 'r["bytes"] > 0' '"watchdog" in r["errors"][0]["operation"]' \
    '{"spur-0", "spur-1"} <= {t["name"] for t in r["stuck_threads"]}' \
    'all(t["state"] == "T" for t in r["stuck_threads"])'
