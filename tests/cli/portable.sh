#!/bin/sh
# SPDX-License-Identifier: MIT
# make portable gives one file that needs nothing but the C library of 2.34 or later, and works.
. "$(dirname "$0")/lib.sh"
requires meson ninja readelf

# Not optimised: how it links is what is asked, and that takes half of the time.
expect 0 env -u CC CFLAGS=-O0 "$root/scripts/portable" "$work/build-portable"
spur=$work/build-portable/spur
readelf -d "$spur" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' >"$work/needed"
grep -q '^libc\.so\.6$' "$work/needed" || fail "it does not need the C library?"
! grep -vE '^(libc\.so\.6|libm\.so\.6|ld-linux.*)$' "$work/needed" || fail "it needs more than the C library"
readelf -W --dyn-syms "$spur" | sed -n 's/.*@GLIBC_\([0-9.]*\).*/\1/p' | sort -Vu | tail -n 1 >"$work/newest"
printf '%s\n2.34\n' "$(cat "$work/newest")" | sort -VC || fail "it needs glibc $(cat "$work/newest"), and README says 2.34"
readelf -S "$spur" >"$work/sections"
! grep -q '\.debug_info' "$work/sections" || fail "it is not stripped"

cp "$spur" "$work/alone"
expect 0 "$work/alone" prepare "$work/f" --size 1M
expect 0 "$work/alone" run --file "$work/f" --path fanout --bytes 1M --request 64K
says out "ok: "
