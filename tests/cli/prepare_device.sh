#!/bin/sh
# SPDX-License-Identifier: MIT
# A block device needs --device-ok and --overwrite, must not be in use, and must be large enough.
. "$(dirname "$0")/lib.sh"
requires_root "loop devices"
requires losetup mkfs.ext4 python3

truncate -s 16M "$work/image"
loop=$(losetup -f --show "$work/image" 2>/dev/null) || skip "no loop device can be had"
trap 'losetup -d "$loop"; rm -rf "$work"' EXIT
for consent in "" --device-ok --overwrite; do
    # shellcheck disable=SC2086
    expect 3 "$SPUR" prepare "$loop" --size 1M $consent
    one_line
    says err "block device"
done
expect 2 "$SPUR" prepare "$loop" --size 17M --device-ok --overwrite
expect 0 "$SPUR" prepare "$loop" --size 9M --device-ok --overwrite
head -c 9M "$loop" >"$work/copy"
python3 "$here/judge.py" "$work/copy" || fail "blocks are wrong"
expect 0 "$SPUR" prepare "$loop" --size 9M --device-ok --overwrite
says out "already prepared"

mkfs.ext4 -q -F "$loop" 2>/dev/null || skip "mkfs.ext4 failed"
mkdir "$work/mnt"
mount "$loop" "$work/mnt" 2>/dev/null || skip "the loop device cannot be mounted"
sha256sum <"$work/image" >"$work/before"
expect 3 "$SPUR" prepare "$loop" --size 1M --device-ok --overwrite
umount "$work/mnt"
says err "in use"
