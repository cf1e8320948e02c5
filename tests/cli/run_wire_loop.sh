#!/bin/sh
# SPDX-License-Identifier: MIT
# A loop device whose file is cached: the disk below it saw none of the reads, so what it counted is said to be others'.
. "$(dirname "$0")/run_lib.sh"
requires_root "loop devices"
requires losetup

truncate -s 16M "$work/image"
"$SPUR" prepare "$work/image" --size 16M --quiet --overwrite
cat "$work/image" >/dev/null
loop=$(losetup --show -f "$work/image" 2>/dev/null) || skip "no loop device can be had"
trap 'losetup -d "$loop"; rm -rf "$work"' EXIT
wire() { # true of what was counted
    python3 -c 'import json, sys; w = json.load(open(sys.argv[1]))["wire"]; sys.exit(not eval(sys.argv[2]))' "$work/r.json" "$1"
}
n=0
while :; do
    trial 0 --file "$loop" --device-ok --path odirect --bytes 16M --request 1M --threads 2 --memory pinned
    wire 'w["source"] == "block"' || skip "no block device below the loop device"
    wire 'w["read"]["bytes"] < 1 << 20' && break # else others read much from that disk just then
    n=$((n + 1))
    [ $n -lt 40 ] || fail "others read from the disk in each of $n trials"
done
holds 'r["bytes"] == 16 << 20' 'r["wire"]["others_only"] is True' \
    'any("loop device on" in n for n in r["wire"]["notes"])' \
    'r["wire"]["requests"] == 0 or any("others" in n for n in r["wire"]["notes"])'
