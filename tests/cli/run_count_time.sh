#!/bin/sh
# SPDX-License-Identifier: MIT
# A timed run: intervals and parts sum to the total, and the window is what was asked for.
. "$(dirname "$0")/run_lib.sh"

prepared f 4M
for path in null buffered odirect fanout; do
    trial 0 --file "$work/f" --path $path --op randread --request 4K --seconds 1s --warmup 50ms --interval 100ms \
        --threads 2 --verify off
    holds 'r["seconds"] == 1' 'len(r["intervals"]) == 10' 'r["requests"] > 0' \
        'sum(i["requests"] for i in r["intervals"]) == r["requests"]' \
        'sum(p["requests"] for p in r["parts"]) == r["requests"]' \
        '0 <= r["first_done_s"] <= r["last_done_s"] <= 1' \
        'abs(r["requests_per_second"] - r["requests"]) < 1e-3'
done
