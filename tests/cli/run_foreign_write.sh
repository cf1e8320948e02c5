#!/bin/sh
# SPDX-License-Identifier: MIT
# A foreign file is not written without --overwrite: it stays as it is and is never opened for writing. Exit 3.
. "$(dirname "$0")/run_lib.sh"

head -c 1M /dev/urandom >"$work/f"
fingerprint "$work/f" >"$work/before"
for op in write randwrite mix; do
    for path in buffered mmap odirect fanout null; do
        refused 3 "--overwrite" --file "$work/f" --path $path --op $op --request 4K
    done
done
fingerprint "$work/f" >"$work/after"
cmp -s "$work/before" "$work/after" || fail "the file changed"
requires_strace
expect 3 traced "$work/log" -e trace=open,openat,openat2,creat,truncate,unlink,rename -- "$SPUR" run --file "$work/f" --op write
grep -q "$work/f" "$work/log" || fail "strace saw nothing of the file"
! grep -E "($work/f|/proc/self/fd).*O_(RDWR|WRONLY|TRUNC)" "$work/log" || fail "opened for writing"
