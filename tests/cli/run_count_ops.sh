#!/bin/sh
# SPDX-License-Identifier: MIT
# --bytes is the total of all threads for each op and path; sums over parts, directions and intervals agree.
. "$(dirname "$0")/run_lib.sh"

prepared f 4M
prepared g 2M
for path in buffered mmap odirect fanout; do
    for op in read write randread randwrite mix; do
        trial 0 --file "$work/f" --file "$work/g" --path $path --op $op --request 8K --bytes 3M --threads 3 --interval 1ms
        holds 'r["bytes"] == 3 << 20' 'r["requests"] == 384' 'r["complete"]' \
            'sum(p["bytes"] for p in r["parts"]) == r["bytes"]' \
            'sum(p["requests"] for p in r["parts"]) == r["requests"]' \
            'sum(i["bytes"] for i in r["intervals"]) == r["bytes"]' \
            'sum(i["requests"] for i in r["intervals"]) == r["requests"]' \
            'sum(o["bytes"] for o in r["by_op"].values()) == r["bytes"]' \
            'abs(r["bytes_per_second"] * r["seconds"] - r["bytes"]) < 1'
    done
done
