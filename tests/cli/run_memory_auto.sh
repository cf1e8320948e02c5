#!/bin/sh
# SPDX-License-Identifier: MIT
# --memory auto: cuda:0 where a GPU answers, else emulated; the first line and the JSON say which, and why.
. "$(dirname "$0")/run_lib.sh"

prepared f 1M
SPUR_LIBCUDA=$work/none expect 0 "$SPUR" run --file "$work/f" --bytes 1M --json "$work/r.json"
head -n 1 "$work/out" | grep -q "memory emulated" || fail "the first line does not name the memory"
holds 'r["effective"]["memory"]["name"] == "emulated"' 'r["effective"]["memory"]["emulated"]' \
    '"none" in r["effective"]["memory"]["chosen_because"]' 'any(n.startswith("emulated") for n in r["notes"])' \
    'r["requested"]["memory"] == "auto"'
requires_fake_cuda
expect 0 "$SPUR" run --file "$work/f" --bytes 1M --json "$work/r.json"
head -n 1 "$work/out" | grep -q "memory cuda:0" || fail "the first line does not name the memory"
holds 'r["effective"]["memory"]["name"] == "cuda:0"' 'r["effective"]["memory"]["uuid"].startswith("GPU-")' \
    'r["effective"]["memory"]["emulated"]' # for the GPU is a fake
