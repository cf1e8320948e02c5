#!/bin/sh
# SPDX-License-Identifier: MIT
# Too little page-locked memory allowed: the limit and the remedy are named. Exit 1.
. "$(dirname "$0")/run_lib.sh"
requires prlimit
requires_nobody
! grep -qaE '__(asan|tsan)_init' "$SPUR" || skip "sanitizers make mlock do nothing"

prepared f 1M
chmod 444 "$work/f"
expect 1 prlimit --memlock=65536 setpriv --reuid 65534 --regid 65534 --clear-groups "$SPUR" run --file "$work/f" \
    --memory pinned --threads 1 --bytes 1M
one_line
says err "limit of 65536 (RLIMIT_MEMLOCK)"
says err "ulimit -l"
expect 0 prlimit --memlock=65536 setpriv --reuid 65534 --regid 65534 --clear-groups "$SPUR" run --file "$work/f" \
    --memory pageable --threads 1 --bytes 1M
expect 1 prlimit --memlock=1000000 setpriv --reuid 65534 --regid 65534 --clear-groups "$SPUR" run --file "$work/f" \
    --memory pinned --threads 8 --request 256K --bytes 1M
says err "RLIMIT_MEMLOCK"
