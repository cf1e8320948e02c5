#!/bin/sh
# SPDX-License-Identifier: MIT
# Where nothing counts requests, nothing is said of them: null with the reason, and no line. Never 0.
. "$(dirname "$0")/run_lib.sh"

prepared f 1M
mkdir "$work/root"
SPUR_ROOT="$work/root" trial 0 --file "$work/f" --bytes 1M --path buffered --memory pageable
holds 'all(r["wire"][k] is None and r["nulls"]["wire." + k] for k in ("source", "requests", "bytes", "mean_bytes",
    "mean_service_ns", "mean_in_flight", "retries", "sampled", "server_cpu_seconds", "network", "throttled"))' \
    'r["wire"]["rdma"] == [] and len(r["wire"]["items"]) == 1'
SPUR_ROOT="$work/root" expect 0 "$SPUR" run --file "$work/f" --bytes 1M --path buffered --memory pageable
says_not out "on the wire"
