#!/bin/sh
# SPDX-License-Identifier: MIT
# A request that is never answered: the run says so, whoever waits for it can be killed, and nothing stays behind.
. "$(dirname "$0")/run_lib.sh"
. "$(dirname "$0")/simfs_lib.sh"

nothing_waits() { [ "$(stat_of in_flight)" = 0 ]; }
waits() { [ "$(stat_of in_flight)" = 1 ]; }
for path in odirect fanout; do
    simfs --size 2M --rpc 64K --faults "hang@offset=1M" --log "$work/log"
    trial 1 --file "$mount/data.0" --path $path --request 64K --threads 1 --bytes 2M --memory pageable --stall 500ms
    says err "no request completed for 0.5 s"
    wait_until nothing_waits
    wait_until "$SPUR" simfs --unmount "$mount" 2>/dev/null # the killed worker still has to close its files
    grep -q " EINTR hang" "$work/log" || fail "the log does not have it"
done
# Those that wait when the server is told to end are answered.
simfs --size 2M --faults "hang@n=1-"
dd if="$mount/data.0" of=/dev/null bs=1M iflag=direct 2>"$work/err" &
reader=$!
wait_until waits
kill -TERM "$(server_pid)"
! wait $reader || fail "a hung read succeeded"
wait_until not_mounted
