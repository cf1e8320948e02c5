#!/bin/sh
# SPDX-License-Identifier: MIT
# Sizes are strict: what is not a whole number with a known unit is refused with one reason.
. "$(dirname "$0")/lib.sh"

bad() {
    expect 2 "$SPUR" prepare "$work/f" "--size=$1"
    one_line
    says err "$2"
    [ ! -e "$work/f" ] || fail "$1 was taken"
}
bad "" "a number is missing"
bad 0 "below the least value, 1"
bad -1 "cannot be negative"
bad +1 "begin with a digit"
bad 1e3 "no exponents"
bad 0x10 "decimal"
bad 300% "percentage"
bad 4KB "ambiguous"
bad "4 KiB" "no space"
bad " 4K" "begin with a digit"
bad 1.5M "whole numbers only: 1536K"
bad 4KiBx "no unit of size"
bad 18446744073709551616 "too large"
bad 99999999T "too large"
for size in 4096 4K 4k 4KiB 4096B; do
    expect 0 "$SPUR" prepare "$work/f" --size $size
    [ "$(stat -c %s "$work/f")" -eq 4096 ] || fail "$size made $(stat -c %s "$work/f") bytes"
    rm "$work/f"
done
