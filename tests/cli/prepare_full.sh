#!/bin/sh
# SPDX-License-Identifier: MIT
# Too little space is seen before anything is written, with both numbers; a disk that fills up leaves nothing behind.
. "$(dirname "$0")/lib.sh"
requires_root "a small file system is mounted"
requires unshare mount

if [ -z "${SPUR_TEST_INSIDE:-}" ]; then
    unshare -m true 2>/dev/null || skip "unshare -m is not allowed here"
    rm -rf "$work"
    SPUR_TEST_INSIDE=1 exec unshare -m "$0"
fi
mkdir "$work/small"
mount -t tmpfs -o size=8M,nr_inodes=16 none "$work/small" || skip "tmpfs cannot be mounted here"
trap 'umount "$work/small"; rm -rf "$work"' EXIT
f=$work/small/f
expect 1 "$SPUR" prepare "$f" --size 64M
one_line
says err "64 MiB are needed and 8 MiB are free"
says err "smaller --size"
[ -z "$(ls -A "$work/small")" ] || fail "something was left behind"
expect 0 "$SPUR" prepare "$f" --size 6M

# In place: what is there stays whole when there is no room for more.
fingerprint "$f" >"$work/before"
expect 1 "$SPUR" prepare "$f" --size 16M
fingerprint "$f" >"$work/after"
cmp -s "$work/before" "$work/after" || fail "the old file changed"
rm "$f"

i=0
while touch "$work/small/$i" 2>/dev/null; do i=$((i + 1)); done
expect 1 "$SPUR" prepare "$f" --size 1M
says err "inode"

if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
    rm -f "$work/small"/*
    for call in fallocate pwrite64 fsync; do
        for error in ENOSPC EDQUOT; do
            expect 1 traced "$work/log" -e trace=$call -e inject=$call:error=$error -- "$SPUR" prepare "$f" --size 1M
            one_line
            [ -z "$(ls -A "$work/small")" ] || fail "$call: $error: something was left behind"
        done
    done
fi
