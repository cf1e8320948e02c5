#!/bin/sh
# SPDX-License-Identifier: MIT
# On 4096-byte sectors odirect refuses multiples of 512 and names 4096; 4096 itself, and odd ends of files, work.
. "$(dirname "$0")/run_lib.sh"
requires_root "loop devices"
requires losetup mkfs.ext4

truncate -s 32M "$work/image"
loop=$(losetup -b 4096 -f --show "$work/image" 2>/dev/null) || skip "no loop device with 4096-byte sectors can be had"
trap 'umount "$work/mnt" 2>/dev/null; losetup -d "$loop"; rm -rf "$work"' EXIT
mkfs.ext4 -q -F "$loop" 2>/dev/null || skip "mkfs.ext4 failed"
mkdir "$work/mnt"
mount "$loop" "$work/mnt" 2>/dev/null || skip "the loop device cannot be mounted"
prepared mnt/f 1M
refused 2 "--request 512 is no multiple of 4096" --file "$work/mnt/f" --path odirect --request 512
refused 2 "--request 6144 is no multiple of 4096" --file "$work/mnt/f" --path odirect --request 6K
trial 0 --file "$work/mnt/f" --path odirect --request 4K --bytes 1M --memory pinned
holds 'r["bytes"] == 1 << 20' 'r["effective"]["offset_align"] == 4096' 'r["verify"]["status"] == "ok"'
head -c 10000 /dev/urandom >"$work/mnt/odd"
sync "$work/mnt/odd"
trial 0 --file "$work/mnt/odd" --path odirect --request 4K --bytes 10000 --threads 1 --verify inline
holds 'r["bytes"] == 10000' 'r["requests"] == 3' 'r["verify"]["bytes_timed_verified"] == 10000'
for path in buffered mmap fanout; do
    trial 0 --file "$work/mnt/f" --path $path --request 512 --op randread --bytes 512K --memory pinned --verify inline
    holds 'r["verify"]["status"] == "ok"'
done
