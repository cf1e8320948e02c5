#!/bin/sh
# SPDX-License-Identifier: MIT
# A block device is read with --device-ok only, and written with --overwrite besides.
. "$(dirname "$0")/run_lib.sh"
requires_root "loop devices"
requires losetup

truncate -s 8M "$work/image"
loop=$(losetup -f --show "$work/image" 2>/dev/null) || skip "no loop device can be had"
trap 'losetup -d "$loop"; rm -rf "$work"' EXIT
refused 3 "--device-ok" --file "$loop"
refused 3 "--overwrite" --file "$loop" --device-ok --op write
trial 0 --file "$loop" --device-ok --bytes 8M --path odirect
holds 'r["bytes"] == 8 << 20' 'r["verify"]["status"] == "ok"' 'r["effective"]["files"][0]["extents"] == "block device"'
trial 0 --file "$loop" --device-ok --overwrite --op write --bytes 8M --path odirect --memory pinned
holds 'r["verify"]["bytes_pass_verified"] == 8 << 20'
trial 0 --file "$loop" --device-ok --bytes 8M --verify inline --path odirect
holds 'r["effective"]["files"][0]["format"] == "spur"' 'r["verify"]["bytes_timed_verified"] == 8 << 20'
