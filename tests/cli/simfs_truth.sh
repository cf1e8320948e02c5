#!/bin/sh
# SPDX-License-Identifier: MIT
# A simulated storage is never faster than it says: not even where the machine was busy when the mount began, and what a
# request costs here was taken for more than it is.
. "$(dirname "$0")/run_lib.sh"
. "$(dirname "$0")/simfs_lib.sh"
requires_strace
requires chrt

lone() {
    grep cost "$mount/.spur/config"
    trial 0 --file "$mount/data.0" --path odirect --request "$1" --threads 1 --seconds 300ms --warmup 50ms --memory pageable \
        --verify off
    holds 'r["latency_ns"]["p50"] >= 2000000 * .99'
    unmounted
}

simfs --size 4M # there is FUSE here
unmounted
# What measures the cost is held up for 1.5 ms in each read.
traced "$work/strace" --seccomp-bpf -qq -e trace=pread64 -e inject=pread64:delay_exit=1500 -- \
    "$SPUR" simfs "$mount" --size 4M --latency 2ms >"$work/out" 2>"$work/err" &
wait_until grep -q simulated "$work/out"
[ "$(sed -n 's/^cost_request_ns //p' "$mount/.spur/config")" -gt 1000000 ] || fail "it was not held up"
lone 4K
wait

busy=
calm() {
    # shellcheck disable=SC2086
    [ -z "$busy" ] || kill $busy
    busy=
    wait
}
trap 'calm; simfs_end; rm -rf "$work"' EXIT
for i in 1 2 3 4; do
    (while :; do :; done) &
    busy="$busy $!"
done
expect 0 chrt --idle 0 "$SPUR" simfs "$mount" --size 4M --latency 2ms # behind all others
calm 2>/dev/null
chrt --all-tasks --other --pid 0 "$(server_pid)" # and as all others again
lone 1M
