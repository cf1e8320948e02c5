#!/bin/sh
# SPDX-License-Identifier: MIT
# A file that appears at the name while prepare writes is not replaced.
. "$(dirname "$0")/lib.sh"
requires_strace

f=$work/f
begun() { grep -q 'pwrite64.*SPUR' "$work/log" 2>/dev/null; }
traced "$work/log" -e trace=pwrite64 -e inject=pwrite64:delay_enter=200000 -- \
    "$SPUR" prepare "$f" --size 16M --threads 1 >"$work/out" 2>"$work/err" &
job=$!
wait_until begun
echo "precious" >"$f"
code=0
wait $job || code=$?
[ $code -eq 3 ] || fail "exit code $code"
one_line
says err "appeared"
[ "$(cat "$f")" = precious ] || fail "it was replaced"
