#!/bin/sh
# SPDX-License-Identifier: MIT
# Interrupted or killed while it writes in place, prepare leaves a file that does not look whole, and is made whole later.
. "$(dirname "$0")/lib.sh"
requires_strace
requires python3

f=$work/f
begun() { [ "$(grep -c 'pwrite64.*SPUR' "$work/log" 2>/dev/null)" -ge "$least" ]; }
for signal in INT TERM KILL; do
    for least in 1 3; do # at the mark, and among the data
        expect 0 "$SPUR" prepare "$f" --size 64M --seed 1
        rm -f "$work/log" "$work/pid"
        # shellcheck disable=SC2016
        traced "$work/log" -e trace=pwrite64 -e inject=pwrite64:delay_exit=100000 -- \
            sh -c 'echo $$ >"$1"; exec "$2" prepare "$3" --size 64M --seed 2 --threads 1' sh "$work/pid" "$SPUR" "$f" \
            >"$work/out" 2>"$work/err" &
        job=$!
        wait_until begun
        kill -$signal "$(cat "$work/pid")"
        code=0
        wait $job || code=$?
        [ $code -ge 128 ] || fail "SIG$signal: exit code $code"
        [ "$(magic "$f")" = SPURPART ] || fail "SIG$signal left a file that looks whole"
    done
done
expect 0 "$SPUR" prepare "$f" --size 1M # no --overwrite: it is spur's own
says_not out "already"
python3 "$here/judge.py" "$f" || fail "blocks are wrong"
