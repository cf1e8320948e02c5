#!/bin/sh
# SPDX-License-Identifier: MIT
# The disk below saw at least the bytes that an O_DIRECT path read, and number in flight, time and rate fit together.
. "$(dirname "$0")/run_lib.sh"

prepared f 64M
expect 0 "$SPUR" run --file "$work/f" --path odirect --bytes 64M --request 1M --threads 4 --verify off --memory pinned \
    --json "$work/r.json"
python3 -c 'import json, sys; sys.exit(json.load(open(sys.argv[1]))["wire"]["source"] != "block")' "$work/r.json" ||
    skip "no block device below $work whose requests could be counted"
says out "on the wire: "
holds 'r["wire"]["read"]["bytes"] >= 64 << 20' 'r["wire"]["read"]["requests"] > 0' \
    'r["wire"]["bytes"] == sum(i["bytes"] for i in r["wire"]["items"])' \
    'r["wire"]["retries"] is None and "wire.retries" in r["nulls"]' 'r["wire"]["mean_in_flight"] > 0' \
    'abs(r["wire"]["mean_in_flight"] * r["seconds"] * 1e9 / (r["wire"]["requests"] * r["wire"]["mean_service_ns"]) - 1) < .6'
