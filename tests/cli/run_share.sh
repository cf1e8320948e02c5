#!/bin/sh
# SPDX-License-Identifier: MIT
# --share: how often the file is opened, and how many buffers there are.
. "$(dirname "$0")/run_lib.sh"
requires_strace

prepared f 1M
share() { # MODE HANDLES BUFFERS
    rm -f "$work/r.json"
    expect 0 traced "$work/log" -e trace=open,openat -- "$SPUR" run --quiet --file "$work/f" --path "$path" \
        --threads 3 --request 64K --bytes 1M --share "$1" --json "$work/r.json" --verify off
    holds "r['effective']['file_handles'] == $2" "r['effective']['buffers'] == $3" "r['effective']['share'] == '$1'" \
        'r["effective"]["threads"] == 3'
    opens=$(grep "$work/f\"" "$work/log" | grep -c -- '= [0-9]')
    [ "$opens" -eq $(($2 * per_handle + 1)) ] || fail "$path, --share $1: $opens opens" # one for the judgement
}
for path in buffered odirect; do
    per_handle=1
    share none 3 3
    share handle 1 3
    share buffer 3 1
    share both 1 1
done
