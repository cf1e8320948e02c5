#!/bin/sh
# SPDX-License-Identifier: MIT
# Where /dev/fuse is not there, or nothing may be mounted, that is said in one line; exit 3.
. "$(dirname "$0")/lib.sh"
requires_root "hides /dev/fuse"
requires unshare setpriv

mkdir "$work/mount"
unshare -m true 2>/dev/null || skip "unshare -m is not allowed here"
expect 3 unshare -m sh -c 'mount -t tmpfs none /dev && exec "$@"' sh "$SPUR" simfs "$work/mount" --size 1M
one_line
says err "/dev/fuse: No such file or directory: no FUSE here"
[ -c /dev/fuse ] || skip "no FUSE here"
expect 3 setpriv --bounding-set=-sys_admin --inh-caps=-sys_admin "$SPUR" simfs "$work/mount" --size 1M
one_line
says err "it cannot be mounted"
