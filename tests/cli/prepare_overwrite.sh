#!/bin/sh
# SPDX-License-Identifier: MIT
# --overwrite writes over a foreign file in place, larger and smaller ones.
. "$(dirname "$0")/lib.sh"
requires python3

for old in 3 70000 900000; do
    f=$work/f$old
    head -c $old /dev/zero >"$f"
    inode=$(stat -c %i "$f")
    expect 0 "$SPUR" prepare "$f" --size 70001 --overwrite
    says out "70001"
    [ "$(stat -c '%i %s' "$f")" = "$inode 70001" ] || fail "not written in place, or of another size"
    python3 "$here/judge.py" "$f" || fail "blocks are wrong"
done
