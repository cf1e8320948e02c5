#!/bin/sh
# SPDX-License-Identifier: MIT
# An ordinary user mounts with fusermount3, and takes the mount away; so does the helper of a server that was killed.
. "$(dirname "$0")/run_lib.sh"
requires_nobody
requires fusermount3 unshare
[ -c /dev/fuse ] || skip "no FUSE here"
unshare -m true 2>/dev/null || skip "unshare -m is not allowed here"

mkdir "$work/mount"
mknod -m 666 "$work/fuse" c 10 229 2>/dev/null || skip "no FUSE here"
chown 65534 "$work/mount"
cat >"$work/steps" <<'END'
set -ex
mount --bind "$work/fuse" /dev/fuse
user() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
pid() { user sed -n 's/^pid //p' "$work/mount/.spur/config"; }
gone() { n=0; while grep -q "$work/mount" /proc/self/mounts; do n=$((n + 1)); [ $n -lt 1000 ]; sleep 0.01; done; }
user "$SPUR" simfs "$work/mount" --size 1M
user "$SPUR" run --quiet --file "$work/mount/data.0" --request 64K --bytes 1M --memory pageable
user "$SPUR" simfs --unmount "$work/mount"
gone
for signal in TERM KILL; do
    user "$SPUR" simfs "$work/mount" --size 1M
    user kill -$signal "$(pid)"
    gone
done
END
export work SPUR
expect 0 unshare -m sh "$work/steps"
