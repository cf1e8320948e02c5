#!/bin/sh
# SPDX-License-Identifier: MIT
# A foreign file that was overwritten in part must not be taken for one of spur's that is damaged.
. "$(dirname "$0")/run_lib.sh"

head -c 1M /dev/urandom >"$work/f"
trial 0 --file "$work/f" --path buffered --op write --request 4K --range 64K --bytes 64K --overwrite
holds 'r["verify"]["status"] == "ok"' 'r["verify"]["bytes_pass_verified"] == 64 << 10'
code=0
"$SPUR" run --file "$work/f" --path buffered --request 4K --bytes 1M >"$work/out" 2>"$work/err" || code=$?
says_not err "do not trust"
[ "$code" -eq 0 ] || [ "$code" -eq 3 ] || fail "exit code $code"
