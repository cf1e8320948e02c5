#!/bin/sh
# SPDX-License-Identifier: MIT
# A disk that fills up during a comparison: said with a remedy, what was stored can be read, and --resume goes on.
. "$(dirname "$0")/compare_lib.sh"
requires_root "a small file system is mounted"
requires unshare mount

if [ -z "${SPUR_TEST_INSIDE:-}" ]; then
    unshare -m true 2>/dev/null || skip "unshare -m is not allowed here"
    rm -rf "$work"
    SPUR_TEST_INSIDE=1 exec unshare -m "$0"
fi
small=$work/small
mkdir "$small"
mount -t tmpfs -o size=32K none "$small" || skip "tmpfs cannot be mounted here"
trap 'umount "$small"; rm -rf "$work"' EXIT
prepared f 1M
set -- "$small/r.db" --file "$work/f" --arm buffered --arm odirect
compared 1 "$@" --blocks 5
one_line
says err "r.db: No space left on device"
says err "free space there, or name another place"
[ -z "$(ls -A "$small")" ] || fail "files were left behind"

mount -o remount,size=8M "$small"
compared 0 "$@" --blocks 5
size=$(stat -c %s "$small/r.db")
rm "$small/r.db"
mount -o remount,size=$((size + 16384)) "$small"
compared 1 "$@" --blocks 10
says err "free space there, or name another place"
says err "finished trials are kept; spur compare --resume $small/r.db goes on"
kept=$(sql "$small/r.db" "select count(*) from trials")
[ "$kept" -gt 0 ] && [ "$kept" -lt 20 ] || fail "$kept of 20 trials are kept"
expect 0 "$SPUR" report "$small/r.db"
says out "not finished: $kept of 20 trials planned were run"
mount -o remount,size=8M "$small"
expect 0 "$SPUR" compare --resume "$small/r.db" --quiet
[ "$(sql "$small/r.db" "select count(*) from trials")" -eq 20 ] || fail "not all trials after the resumption"
