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

requires_strace # the limit may also come from the file system
expect 1 traced "$work/log" -e trace=fallocate -e inject=fallocate:error=EFBIG -- "$SPUR" prepare "$work/g" --size 1M
one_line
says err "File too large"
