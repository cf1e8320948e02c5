#!/bin/sh
# SPDX-License-Identifier: MIT
# Any size: the last block is cut, everything that is there is right, and no part is a hole.
. "$(dirname "$0")/lib.sh"
requires python3

for size in 1 63 64 4095 4096 4097 10000 4194304 4198401 12582913; do
    f=$work/f$size
    expect 0 "$SPUR" prepare "$f" --size $size
    [ "$(stat -c %s "$f")" -eq $size ] || fail "size $(stat -c %s "$f") instead of $size"
    python3 "$here/judge.py" "$f" || [ $size -lt 32 ] || fail "blocks of $size bytes are wrong"
    [ "$(($(stat -c '%b * 512' "$f")))" -ge $size ] || fail "$size: not fully allocated"
done
[ "$(cat "$work/f1")" = S ] || fail "the one byte is not the first of the magic"
