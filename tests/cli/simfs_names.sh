#!/bin/sh
# SPDX-License-Identifier: MIT
# What is in the mount: files that keep their names and sizes, counters and settings; ordinary tools read it.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/simfs_lib.sh"

simfs --size 1000000 --files 12 --jitter 10% --latency 10us --rate 5GiB/s --write-rate 2GiB/s --servers 2
[ "$(stat_of reads)" -eq 0 ] || fail "its own calibration was counted"
grep -qx "cost_request_ns [1-9][0-9]*" "$mount/.spur/config" || fail "nothing was calibrated"
[ "$(ls "$mount" | wc -l)" -eq 12 ] || fail "not 12 files"
[ "$(ls -A "$mount/.spur" | tr '\n' ' ')" = "config stats " ] || fail "other names in .spur"
[ "$(wc -c <"$mount/data.11")" -eq 1000000 ] || fail "not the size"
cat "$mount/data.0" >"$work/a"
dd if="$mount/data.0" of="$work/b" bs=64K iflag=direct 2>/dev/null
cmp "$work/a" "$work/b" || fail "what is read past the cache differs"
cmp -s "$mount/data.0" "$mount/data.1" && fail "two files are the same"
head -c 5000 /dev/urandom >"$work/c"
dd if="$work/c" of="$mount/data.2" conv=notrunc bs=1000 seek=7 2>/dev/null
dd if="$mount/data.2" bs=1000 skip=7 count=5 2>/dev/null | cmp - "$work/c" || fail "not what was written"
expect 2 sh -c ': >"$1/data.3"' sh "$mount"
expect 1 touch "$mount/new"
expect 1 rm "$mount/data.4"
expect 1 mkdir "$mount/dir"
for made in "mv $mount/data.4 $mount/x" "ln $mount/data.4 $mount/x" "ln -s x $mount/x"; do
    # shellcheck disable=SC2086
    expect 1 $made
    says err "Operation not permitted"
done
expect 1 truncate -s 1 "$mount/data.5"
reads=$(stat_of reads)
cat "$mount/.spur/stats" "$mount/.spur/config" >/dev/null
[ "$(stat_of reads)" = "$reads" ] || fail "reading the counters was counted"
stats=$(dd if="$mount/.spur/stats" bs=1 2>/dev/null)
case $stats in
"simfs 1"*log_lost*) ;;
*) fail "read a byte at a time it is not whole: $stats" ;;
esac
for line in "latency_ns 10000" "write_latency_ns 10000" "rate_bytes_per_s 5368709120" "write_rate_bytes_per_s 2147483648" \
    "jitter_percent 10" "servers 2" "files 12" "rpc_bytes 1048576" "backing memory" "seed 1"; do
    grep -qx "$line" "$mount/.spur/config" || fail "no \"$line\" in .spur/config"
done
unmounted
