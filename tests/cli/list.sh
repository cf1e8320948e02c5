#!/bin/sh
# SPDX-License-Identifier: MIT
# Every path and memory is listed with whether it can run here; without a driver the reason names the library.
. "$(dirname "$0")/lib.sh"

export SPUR_LIBCUDA=libspur-no-such-library.so
expect 0 "$SPUR" list
[ ! -s "$work/err" ] || fail "something on stderr"
for name in null buffered mmap odirect fanout pageable pinned cuda:N emulated; do
    grep -qE "^  $name +(yes|no) +." "$work/out" || fail "$name is not listed"
done
grep -qE "^  cuda:N +no +.*libspur-no-such-library.so" "$work/out" || fail "the reason does not name the library"
says out "--set advice=normal"
says out "$(uname -r)"
grep -qE "^io_uring: ." "$work/out" || fail "nothing about io_uring"
limit=$(ulimit -l)
if [ "$limit" != unlimited ] && command -v prlimit >/dev/null; then
    expect 0 prlimit --memlock=65536 "$SPUR" list
    says out "locked memory: 64 KiB"
fi
