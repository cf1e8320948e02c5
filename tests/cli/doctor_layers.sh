#!/bin/sh
# SPDX-License-Identifier: MIT
# What cannot have a direct road is told apart: memory, a layer over a disk, a loop device with sectors of 4096 bytes.
. "$(dirname "$0")/doctor_lib.sh"
requires_root "mounting"

try() { # NAME COMMAND: in a mount namespace of its own, doctor's page of $work/mnt/f
    code=0
    unshare -m sh -ec "$2; echo data >\"$work/mnt/f\"; sync; exec \"$SPUR\" doctor --json \"$work/mnt/f\"" >"$work/out" 2>"$work/err" ||
        code=$?
    [ "$code" -eq 4 ] || skip "$1 cannot be mounted here"
}
mkdir "$work/mnt" "$work/up" "$work/low" "$work/wk"
unshare -m true 2>/dev/null || skip "unshare -m is not allowed here"
try tmpfs "mount -t tmpfs none $work/mnt"
holds "r['files'][0]['facts']['mount']['type'] == 'tmpfs'" "'file is memory' in found('layered', 'warn')[0]['found']" \
    "r['files'][0]['facts']['odirect']['trust'].startswith('none')" || exit 1
try overlay "mount -t overlay none -o lowerdir=$work/low,upperdir=$work/up,workdir=$work/wk $work/mnt"
holds "r['files'][0]['facts']['layered']['upper'].endswith('/up')" "'container layer' in found('layered', 'warn')[0]['found']"
command -v mkfs.ext4 >/dev/null || skip "mkfs.ext4 is not installed (the others agree)"
truncate -s 16M "$work/disk"
mkfs.ext4 -q -F -b 4096 "$work/disk" || skip "mkfs.ext4 failed"
loop=$(losetup -b 4096 --show -f "$work/disk" 2>/dev/null) || skip "no loop device with 4096-byte sectors can be had"
trap 'losetup -d "$loop"; rm -rf "$work"' EXIT
try "a loop device" "mount $loop $work/mnt"
holds "r['files'][0]['facts']['odirect']['offset_alignment'] == 4096" "'loop device' in found('block', 'warn')[0]['found']" \
    "'loop device' in verdict()['reason']" "r['files'][0]['facts']['block-queue']['${loop#/dev/}.logical_block_size'] == 4096"
expect 4 "$SPUR" doctor --json "$loop" # the device itself
holds "r['files'][0]['facts']['file']['kind'] == 'block device'" "not found('mount', 'unknown')" \
    "r['files'][0]['facts']['odirect']['offset_alignment'] == 4096"
