#!/bin/sh
# SPDX-License-Identifier: MIT
# --bytes that ends in the middle of a request: the last writes are shorter, and what lies behind them is no damage.
. "$(dirname "$0")/run_lib.sh"

prepared f 2M
for path in buffered odirect fanout; do
    for op in write randwrite mix; do
        for bytes in 100K 1004K; do
            trial 0 --file "$work/f" --path $path --op $op --request 96K --bytes $bytes --threads 4 --seed 5
            holds 'r["verify"]["status"] == "ok"' "r['bytes'] == ${bytes%K} << 10"
        done
    done
done
trial 0 --file "$work/f" --path buffered --bytes 2M --verify inline
holds 'r["verify"]["bytes_timed_verified"] == 2 << 20'
