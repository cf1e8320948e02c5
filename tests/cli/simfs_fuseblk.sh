#!/bin/sh
# SPDX-License-Identifier: MIT
# On a loop device it is of type fuseblk with the device's number, is still known as simulated, and ends as cleanly.
. "$(dirname "$0")/run_lib.sh"
. "$(dirname "$0")/simfs_lib.sh"
requires_root "loop devices"
requires losetup

truncate -s 1M "$work/image"
loop=$(losetup --show -f "$work/image" 2>/dev/null) || skip "no loop device can be had"
trap 'simfs_end; losetup -d "$loop"; rm -rf "$work"' EXIT
simfs --size 1M --fuseblk "$loop"
grep -q "^$loop $mount fuseblk " /proc/self/mounts || fail "not fuseblk"
[ "$(stat -c %d "$mount/data.0")" -eq $((0x$(stat -c '%t * 256 + 0x%T' "$loop"))) ] || fail "not the number of $loop"
trial 0 --file "$mount/data.0" --path odirect --request 64K --bytes 1M --memory pageable
holds 'r["served"] == "simulated"' 'r["wire"]["source"] == "simfs"' 'r["wire"]["requests"] == 16'
unmounted
for signal in TERM KILL; do
    simfs --size 1M --fuseblk "$loop"
    kill -$signal "$(server_pid)"
    wait_until not_mounted
done
