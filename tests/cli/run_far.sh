#!/bin/sh
# SPDX-License-Identifier: MIT
# Offsets past 4 GiB: the right bytes are read and written there. Slow; needs 5 GiB.
. "$(dirname "$0")/run_lib.sh"

[ "$(df --output=avail -B1 "$work" | tail -n 1)" -gt 6000000000 ] || skip "not 6 GB free in $work"
prepared f 4610M
for path in buffered mmap odirect fanout; do
    trial 0 --file "$work/f" --path $path --op randread --request 64K --bytes 64M --threads 2 --verify inline
    holds 'r["verify"]["bytes_timed_verified"] == 64 << 20' 'r["verify"]["status"] == "ok"'
done
trial 0 --file "$work/f" --path fanout --op randwrite --request 64K --bytes 64M --threads 2
holds 'r["verify"]["status"] == "ok"'
trial 0 --file "$work/f" --path odirect --request 8M --bytes 4610M --threads 2 --verify inline --memory pageable
holds 'r["verify"]["bytes_timed_verified"] == 4610 << 20' 'r["bytes"] == 4610 << 20'
