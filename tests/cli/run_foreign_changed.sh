#!/bin/sh
# SPDX-License-Identifier: MIT
# A foreign file that somebody writes during the run: the difference is noticed. Exit 1.
. "$(dirname "$0")/run_lib.sh"

head -c 256K /dev/urandom >"$work/f"
sync "$work/f"
for path in buffered odirect; do
    started --file "$work/f" --path $path --request 4K --op randread --seconds 1s --warmup 0s --verify inline --threads 2
    sleep 0.6
    dd if=/dev/urandom of="$work/f" bs=4K count=64 conv=notrunc,fsync 2>/dev/null
    ended 1
    says err "$work/f: offset"
    says err "another process changed this file"
    holds 'r["verify"]["status"] == "failed"' 'r["files_modified"] == r["requested"]["files"]'
done
