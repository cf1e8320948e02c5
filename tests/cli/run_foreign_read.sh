#!/bin/sh
# SPDX-License-Identifier: MIT
# A foreign file is verified against independent buffered reads after the timed part.
. "$(dirname "$0")/run_lib.sh"

cp /bin/sh "$work/f"
size=$(stat -c %s "$work/f")
[ "$size" -ge 65536 ] || skip "/bin/sh is small"
fingerprint "$work/f" >"$work/before"
for path in buffered mmap odirect fanout; do
    trial 0 --file "$work/f" --path $path --request 4K --bytes "$size" --threads 2 --verify inline
    holds 'r["effective"]["files"][0]["format"] == "foreign"' 'r["verify"]["status"] == "ok"' \
        "r['verify']['bytes_timed_verified'] == $size" 'r["verify"]["bytes_pass_verified"] == 0'
    trial 0 --file "$work/f" --path $path --op randread --request 4K --bytes 1M --warmup 0s --verify sample
    holds "r['verify']['bytes_pass_verified'] == $size" '0 < r["verify"]["bytes_timed_verified"]'
    trial 0 --file "$work/f" --path $path --request 4K --bytes "$size" --verify off
    holds 'r["verify"]["status"] == "off"' 'r["verify"]["bytes_timed_verified"] == 0'
done
fingerprint "$work/f" >"$work/after"
cmp -s "$work/before" "$work/after" || fail "the file changed"
