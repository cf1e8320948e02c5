#!/bin/sh
# SPDX-License-Identifier: MIT
# Comparing a foreign file ends at --verify-limit, and what it did not reach is not counted as verified.
. "$(dirname "$0")/run_lib.sh"

head -c 32M /dev/urandom >"$work/f"
sync "$work/f"
trial 0 --file "$work/f" --path buffered --op randread --request 64K --threads 2 --seconds 500ms --warmup 0s \
    --verify inline --verify-limit 1ms --memory pageable
holds 'r["complete"]' 'r["verify"]["bytes_timed_verified"] < r["bytes"]' 'r["verify"]["pass_s"] < 5' \
    'any("requests were not verified" in n for n in r["notes"])'
trial 0 --file "$work/f" --path buffered --op randread --request 64K --threads 2 --seconds 100ms --warmup 0s \
    --verify inline --verify-limit 0 --memory pageable
holds 'r["verify"]["bytes_timed_verified"] == r["bytes"]'
