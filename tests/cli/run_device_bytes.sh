#!/bin/sh
# SPDX-License-Identifier: MIT
# On a block device, what the process had read there is what an O_DIRECT path counted: served by storage.
. "$(dirname "$0")/run_lib.sh"

prepared f 8M
for path in odirect fanout; do
    trial 0 --file "$work/f" --path $path --bytes 8M --request 256K --verify off --memory pinned
    python3 -c 'import json, sys; sys.exit(json.load(open(sys.argv[1]))["device"] is None)' "$work/r.json" ||
        skip "no block device below $work whose bytes could be counted"
    holds 'r["served"] == "storage"' 'r["device"]["read_bytes"] >= 8 << 20' \
        '[e["value"]["read_bytes"] for e in r["evidence"] if e["source"] == "/proc/self/io"] == [8 << 20]'
done
cat "$work/f" >/dev/null
trial 0 --file "$work/f" --path buffered --bytes 8M --request 256K --verify off --memory pinned
holds 'r["served"] == "cache"' 'r["cache"]["resident_before"] == 8 << 20'
