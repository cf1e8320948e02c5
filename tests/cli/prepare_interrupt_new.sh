#!/bin/sh
# SPDX-License-Identifier: MIT
# Interrupted or killed while it writes a new file, prepare leaves nothing behind.
. "$(dirname "$0")/lib.sh"
requires_strace

dir=$work/dir
mkdir "$dir"
begun() { grep -q 'pwrite64.*SPUR' "$work/log" 2>/dev/null; }
for signal in INT TERM HUP KILL; do
    rm -f "$work/log" "$work/pid"
    # Slow writes: 16 of them, 100 ms each.
    # shellcheck disable=SC2016
    traced "$work/log" -e trace=pwrite64 -e inject=pwrite64:delay_enter=100000 -- \
        sh -c 'echo $$ >"$1"; exec "$2" prepare "$3" --size 64M --threads 1' sh "$work/pid" "$SPUR" "$dir/f" \
        >"$work/out" 2>"$work/err" &
    job=$!
    wait_until begun
    kill -$signal "$(cat "$work/pid")"
    code=0
    wait $job || code=$?
    case $signal in
    INT) want=130 ;;
    KILL) want=137 ;;
    *) want=143 ;;
    esac
    [ $code -eq $want ] || fail "SIG$signal: exit code $code"
    [ -z "$(ls -A "$dir")" ] || fail "SIG$signal left $(ls -A "$dir")"
    [ $signal = KILL ] || says err "interrupted"
done
