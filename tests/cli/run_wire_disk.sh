#!/bin/sh
# SPDX-License-Identifier: MIT
# The disk below saw at least the bytes that an O_DIRECT path read, and number in flight, time and rate fit together.
. "$(dirname "$0")/run_lib.sh"

prepared f 32M
trial 0 --file "$work/f" --path odirect --seconds 600ms --warmup 0s --request 1M --threads 4 --verify off --memory pinned
python3 -c 'import json, sys; sys.exit(json.load(open(sys.argv[1]))["wire"]["source"] != "block")' "$work/r.json" ||
    skip "no block device below $work whose requests could be counted"
holds 'r["wire"]["bytes"] == sum(i["bytes"] for i in r["wire"]["items"])' \
    'r["wire"]["read"]["bytes"] >= r["bytes"]' 'r["wire"]["read"]["requests"] >= r["bytes"] // r["wire"]["read"]["bytes"]' \
    'r["wire"]["read"]["bytes"] == r["device"]["read_bytes"]' 'r["wire"]["retries"] is None and "wire.retries" in r["nulls"]' \
    'r["wire"]["mean_in_flight"] is not None and r["wire"]["mean_in_flight"] > 0' \
    'abs(r["wire"]["mean_in_flight"] * r["seconds"] * 1e9 / (r["wire"]["requests"] * r["wire"]["mean_service_ns"]) - 1) < .5' \
    'r["wire"]["sampled"] is None or r["wire"]["sampled"]["max_in_flight"] >= r["wire"]["sampled"]["mean_in_flight"]'
expect 0 "$SPUR" run --file "$work/f" --path odirect --bytes 8M --memory pinned
says out "on the wire: "
