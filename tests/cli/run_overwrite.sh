#!/bin/sh
# SPDX-License-Identifier: MIT
# With --overwrite a foreign file becomes one of spur's, whole and verified; its size stays.
. "$(dirname "$0")/run_lib.sh"

for path in buffered mmap odirect fanout; do
    head -c 100352 /dev/urandom >"$work/f" # half a block at the end
    trial 0 --file "$work/f" --path $path --op write --request 4K --threads 2 --seconds 1s --warmup 0s --overwrite
    holds 'r["verify"]["status"] == "ok"' 'r["verify"]["bytes_pass_verified"] == 100352' 'r["sync_s"] >= 0'
    [ "$(stat -c %s "$work/f")" -eq 100352 ] || fail "$path: the size changed"
    [ "$(magic "$work/f")" = SPURBLK1 ] || fail "$path: not in spur's format"
    trial 0 --file "$work/f" --path buffered --bytes 98K --request 4K --verify inline
    holds 'r["verify"]["status"] == "ok"' 'r["verify"]["bytes_timed_verified"] == 100352'
done
