#!/bin/sh
# SPDX-License-Identifier: MIT
# A file that spur did not make is refused, untouched, and was never opened for writing.
. "$(dirname "$0")/lib.sh"

for kind in text empty damaged; do
    f=$work/$kind
    case $kind in
    text) echo "precious" >"$f" ;;
    empty) : >"$f" ;;
    damaged)
        expect 0 "$SPUR" prepare "$f" --size 1M
        printf 'x' | dd of="$f" bs=1 seek=20 conv=notrunc 2>/dev/null # in the UUID: the checksum is wrong
        ;;
    esac
    fingerprint "$f" >"$work/before"
    expect 3 "$SPUR" prepare "$f" --size 2M
    one_line
    says err "$f"
    says err "--overwrite"
    fingerprint "$f" >"$work/after"
    cmp -s "$work/before" "$work/after" || fail "$kind: the file changed"
done

requires_strace
expect 3 traced "$work/log" -e trace=open,openat,openat2,creat,truncate -- "$SPUR" prepare "$work/text" --size 2M
grep -q "$work/text" "$work/log" || fail "strace saw nothing of the file"
! grep -E "($work/text|/proc/self/fd).*O_(RDWR|WRONLY|TRUNC)" "$work/log" || fail "opened for writing"
