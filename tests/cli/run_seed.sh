#!/bin/sh
# SPDX-License-Identifier: MIT
# The same seed asks for the same offsets in the same order, another seed for others; a drawn one is shown.
. "$(dirname "$0")/run_lib.sh"
requires_strace

prepared f 4M
offsets() {
    expect 0 traced "$work/log" -qq -P "$work/f" -e trace=pread64 -- "$SPUR" run --file "$work/f" --path odirect \
        --op randread --request 4K --bytes 256K --threads 1 --verify off "$@"
    sed -n 's/.* 4096, \([0-9]*\)) = 4096$/\1/p' "$work/log"
}
offsets --seed 7 >"$work/a"
says out "seed 7"
offsets --seed 7 >"$work/b"
offsets --seed 8 >"$work/c"
[ "$(wc -l <"$work/a")" -eq 64 ] || fail "$(wc -l <"$work/a") reads were seen"
cmp -s "$work/a" "$work/b" || fail "the same seed, other offsets"
! cmp -s "$work/a" "$work/c" || fail "another seed, the same offsets"
[ "$(sort -u "$work/a" | wc -l)" -gt 30 ] || fail "the offsets are not spread"
offsets >"$work/d"
seed=$(sed -n 's/.*, seed \([0-9]*\)$/\1/p' "$work/out")
offsets --seed "$seed" >"$work/e"
cmp -s "$work/d" "$work/e" || fail "the seed that was shown gives other offsets"

expect 2 "$SPUR" run --file "$work/f" --seed 9223372036854775808 # JSON's integers end before
says err "above the greatest value"
trial 0 --file "$work/f" --bytes 64K --request 4K --seed 9223372036854775807
holds 'r["requested"]["seed"] == r["effective"]["seed"] == 2**63 - 1'
