#!/bin/sh
# SPDX-License-Identifier: MIT
# However it ends, no mount and no process stays behind; and it does not end while it is in use.
. "$(dirname "$0")/run_lib.sh"
. "$(dirname "$0")/simfs_lib.sh"

simfs --size 1M
exec 9<"$mount/data.0"
expect 1 "$SPUR" simfs --unmount "$mount"
says err "busy"
says err "$(server_pid)"
exec 9<&-
server=$(server_pid)
{ sleep 0.3; } 9<"$mount/data.0" & # what is closed soon is waited for: the kernel takes its time after a process
unmounted
gone "$server" || fail "the server is still there"
for signal in TERM INT KILL; do
    simfs --size 1M --latency 1s
    server=$(server_pid)
    dd if="$mount/data.0" of=/dev/null bs=4096 2>/dev/null &
    kill -$signal "$server"
    wait_until not_mounted
    wait_until gone "$server"
    wait $! || true
    [ -z "$(ls "$mount")" ] || fail "something is left in the directory"
done
# In the foreground its exit code says that all went well.
rm -f "$work/said"
"$SPUR" simfs "$mount" --size 1M --foreground >"$work/said" 2>"$work/err" &
wait_until grep -qs "ends it" "$work/said"
head -c 1000 "$mount/data.0" >/dev/null
unmounted
wait $! || fail "it did not end well"
rm -f "$work/said"
# In the foreground it ends with its parent, even if that is killed.
sh -c '"$1" simfs "$2" --size 1M --foreground >"$3" & wait' sh "$SPUR" "$mount" "$work/said" &
parent=$!
wait_until grep -qs "ends it" "$work/said"
server=$(server_pid)
kill -KILL $parent
wait_until not_mounted
wait_until gone "$server"
# Who reads past its end is told so, and that it is the file system.
simfs --size 1M --latency 20ms
"$SPUR" run --file "$mount/data.0" --path odirect --request 64K --threads 1 --memory pageable --seconds 20 >"$work/out" 2>"$work/err" &
run=$!
wait_until sh -c '[ "$(sed -n "s/^reads //p" "$1/.spur/stats")" -gt 30 ]' sh "$mount"
kill -KILL "$(server_pid)"
code=0
wait $run || code=$?
[ $code -eq 1 ] || fail "exit code $code of a run whose storage went away"
says err "data.0 (not answering): reading"
