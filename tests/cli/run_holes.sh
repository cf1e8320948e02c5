#!/bin/sh
# SPDX-License-Identifier: MIT
# Holes and unwritten extents are refused where they can be seen, in the range that is used, whatever of them is in the
# page cache. Exit 3. What a sync may yet prove to be data is refused until then.
. "$(dirname "$0")/run_lib.sh"

truncate -s 4M "$work/sparse"
refused 3 "has holes" --file "$work/sparse"
prepared tail 2M
truncate -s 4M "$work/tail"
refused 3 "has holes" --file "$work/tail"
refused 3 "has holes" --file "$work/tail" --path buffered --op write
trial 0 --file "$work/tail" --range 2M --bytes 2M --path buffered
holds 'r["bytes"] == 2 << 20' 'r["verify"]["status"] == "ok"'
requires fallocate
fallocate -l 4M "$work/allocated" 2>/dev/null || skip "no fallocate on this file system"
refused 3 "unwritten" --file "$work/allocated"
for bytes in 1 1M 4M; do
    head -c $bytes "$work/allocated" >/dev/null
    refused 3 "unwritten extents" --file "$work/allocated" --path odirect
    says err 4194304
done
dd if=/dev/urandom of="$work/allocated" bs=1M count=4 conv=notrunc 2>/dev/null
"$SPUR" run --seconds 50ms --warmup 0s --quiet --file "$work/allocated" >"$work/out" 2>"$work/err" ||
    says err "sync $work/allocated"
sync "$work/allocated"
trial 0 --file "$work/allocated" --bytes 4M
holds 'r["effective"]["files"][0]["extents"] in ("data", "unknown")'
