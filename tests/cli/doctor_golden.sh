#!/bin/sh
# SPDX-License-Identifier: MIT
# Recorded and constructed machines (tests/data/doctor) give the pages beside them; UPDATE=1 writes those anew.
. "$(dirname "$0")/lib.sh"

n=0
for machine in "$root"/tests/data/doctor/*/; do
    name=$(basename "$machine")
    head -n 1 "$machine/README" | grep -qE '^(captured|constructed): ' || fail "$name: README says neither captured nor constructed"
    code=0
    "$SPUR" doctor --verbose --root "$machine/root" >"$work/out" 2>"$work/err" || code=$?
    [ ! -s "$work/err" ] || fail "$name: an error"
    echo "exit $code" >>"$work/out"
    [ -z "${UPDATE:-}" ] || cp "$work/out" "$machine/golden.txt"
    cmp -s "$work/out" "$machine/golden.txt" || fail "$name: $(diff "$machine/golden.txt" "$work/out")"
    n=$((n + 1))
done
[ $n -ge 6 ] || fail "only $n machines"
