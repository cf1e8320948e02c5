#!/bin/sh
# SPDX-License-Identifier: MIT
# More threads than requests: only those with work run, and the output says so.
. "$(dirname "$0")/run_lib.sh"

prepared f 256K
for path in buffered odirect fanout; do
    trial 0 --file "$work/f" --path $path --request 64K --threads 8 --bytes 256K
    holds 'r["effective"]["threads"] == 4' 'r["requested"]["threads"] == 8' 'len(r["parts"]) == 4' \
        'any("4 of 8 threads" in n for n in r["notes"])' 'r["bytes"] == 256 << 10'
    trial 0 --file "$work/f" --path $path --request 64K --threads 8 --op randwrite --seconds 50ms --warmup 0s
    holds 'r["effective"]["threads"] == 4' 'r["verify"]["status"] == "ok"'
    trial 0 --file "$work/f" --path $path --request 256K --threads 64 --op randread --seconds 50ms --warmup 0s
    holds 'r["effective"]["threads"] == 64' 'r["verify"]["status"] == "ok"'
done
