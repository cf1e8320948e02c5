#!/bin/sh
# SPDX-License-Identifier: MIT
# spur run verifies what it reads and writes there, knows that it is simulated, and takes its wire from the counters.
. "$(dirname "$0")/run_lib.sh"
. "$(dirname "$0")/simfs_lib.sh"

simfs --size 4M --latency 2ms --rpc 256K
says out "$mount/data.0"
for path in odirect fanout buffered; do
    trial 0 --file "$mount/data.0" --path $path --request 1M --threads 2 --bytes 4M --memory pageable
    holds 'r["verify"]["status"] == "ok"' 'r["wire"]["source"] == "simfs"' \
        'r["wire"]["items"][0]["latency_ns"] == 2000000' 'r["wire"]["items"][0]["rpc_bytes"] == 262144'
    [ $path = buffered ] || holds 'r["served"] == "simulated"' 'r["wire"]["mean_bytes"] == 262144' \
        'r["wire"]["mean_service_ns"] > 1000000' 'r["latency_ns"]["min"] >= 1500000' 'r["wire"]["server_cpu_seconds"] > 0'
done
for path in odirect fanout; do
    trial 0 --file "$mount/data.0" --path $path --op write --request 1M --threads 2 --bytes 4M \
        --memory pageable --overwrite
    holds 'r["verify"]["status"] == "ok"' 'r["served"] == "simulated"' 'r["wire"]["write"]["bytes"] >= r["bytes"]'
done
unmounted
