#!/bin/sh
# SPDX-License-Identifier: MIT
# A file-size limit is an error with a remedy, not a death by SIGXFSZ.
. "$(dirname "$0")/lib.sh"
requires prlimit

expect 1 prlimit --fsize=1000000 "$SPUR" prepare "$work/f" --size 2M
one_line
says err "file-size limit"
says err "ulimit -f"
[ ! -e "$work/f" ] || fail "a file was left behind"
expect 0 "$SPUR" prepare "$work/f" --size 1M
expect 1 prlimit --fsize=2000000 "$SPUR" prepare "$work/f" --size 4M
[ "$(magic "$work/f")" = SPURBLK1 ] || fail "the old file was harmed"

requires_strace
# A limit that is met only while writing: the signal must not end the program.
expect 0 traced "$work/log" -e trace=prlimit64 -- "$SPUR" prepare "$work/g" --size 1K
nth=$(grep prlimit64 "$work/log" | grep -n RLIMIT_FSIZE | head -1 | cut -d: -f1)
[ -n "$nth" ] || fail "the limit was not looked at"
rm "$work/g"
limited() (
    ulimit -f 1000
    traced "$@"
)
expect 1 limited "$work/log" -e trace=prlimit64 -e inject=prlimit64:error=EPERM:when="$nth" -- \
    "$SPUR" prepare "$work/g" --size 2M
one_line
says err "File too large"
# The limit may also be the file system's.
expect 1 traced "$work/log" -e trace=fallocate -e inject=fallocate:error=EFBIG -- "$SPUR" prepare "$work/g" --size 1M
one_line
says err "File too large"
