#!/bin/sh
# SPDX-License-Identifier: MIT
# Causes of what really ran, on simulated storage: pieces that are small, and a file of which a part is in the page cache.
. "$(dirname "$0")/compare_lib.sh"
. "$(dirname "$0")/simfs_lib.sh"
small=$work/small
mkdir "$small"
trap 'simfs_end; mount=$small; simfs_end; rm -rf "$work"' EXIT

# Other programs may take a comparison's decision away; not three times.
explained() {
    kind=$1
    shift
    for try in 1 2 3; do
        rm -f "$work/r.db" "$work/r.db.lock"
        expect 0 "$SPUR" compare --results "$work/r.db" --memory pageable --threads 1 --warmup 0s --interval 0 --verify off "$@"
        expect 0 "$SPUR" report "$work/r.db" --json "$work/r.json"
        ! grep -q "\"kind\": *\"$kind\"" "$work/r.json" || return 0
    done
    expect 0 "$SPUR" report "$work/r.db"
    fail "no $kind in $try tries"
}

simfs --size 64M --latency 5ms
expect 0 dd if="$mount/data.0" of=/dev/null bs=1M count=32
explained cache --file "$mount/data.0" --arm odirect --arm buffered:path=buffered --op randread --request 64K --bytes 2M
holds 'len(r["causes"]) == 1 and r["causes"][0]["faster"] == "buffered"' \
    '.2 < r["causes"][0]["numbers"]["wire_share"]["faster_low"] < .8'
unmounted

# One mount cuts a request into 16 pieces, which travel one after the other.
simfs --size 64M --latency 5ms --rpc 1M --direct-io
expect 0 "$SPUR" simfs "$small" --size 64M --latency 5ms --rpc 64K --direct-io
explained splitting --path odirect --arm large:file="$mount/data.0" --arm small:file="$small/data.0" --request 1M --bytes 4M
holds 'len(r["causes"]) == 1 and r["causes"][0]["variant"] == "small" and r["causes"][0]["faster"] == "large"' \
    'r["causes"][0]["numbers"]["per_request"] == dict(faster_low=1, faster_high=1, slower_low=16, slower_high=16)'
