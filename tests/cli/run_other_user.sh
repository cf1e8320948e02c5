#!/bin/sh
# SPDX-License-Identifier: MIT
# A 0444 file is read by another user, and nothing of it changes; its residency is unknown, with the reason.
. "$(dirname "$0")/run_lib.sh"
requires_nobody

prepared f 1M
chmod 444 "$work/f"
touch -a -d '2001-01-01' "$work/f"
fingerprint "$work/f" >"$work/before"
mkdir -m 777 "$work/results"
for path in buffered mmap odirect fanout; do
    rm -f "$work/results/r"
    expect 0 as_nobody "$SPUR" run --quiet --file "$work/f" --path $path --memory emulated --bytes 1M --request 64K \
        --verify inline --json "$work/results/r"
    cp "$work/results/r" "$work/r.json"
    holds 'r["verify"]["bytes_timed_verified"] == 1 << 20' 'r["cache"]["resident_before"] is None' \
        '"mincore" in r["nulls"]["cache.resident_before"]'
done
fingerprint "$work/f" >"$work/after"
cmp -s "$work/before" "$work/after" || fail "the file changed"
touch -a -d '2001-01-01' "$work/f"
expect 0 "$SPUR" run --quiet --file "$work/f" --bytes 1M
[ "$(stat -c %X "$work/f")" -eq "$(date -d '2001-01-01' +%s)" ] || fail "the owner's reading moved the access time"
