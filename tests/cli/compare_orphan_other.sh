#!/bin/sh
# SPDX-License-Identifier: MIT
# A command that spur may not end (it changed its user) and that lives on after spur: --resume is refused as long as it runs.
. "$(dirname "$0")/compare_lib.sh"
requires_nobody
requires flock

command=
prepared f 4M
chmod 777 "$work"
chmod 644 "$work/f"
cp "$(command -v setpriv)" "$work/become" # as sudo would
chmod 4755 "$work/become"
nobody="setpriv --reuid 65534 --regid 65534 --clear-groups"
$nobody "$work/become" --reuid 0 true 2>/dev/null || skip "set-user-ID programs do not work in $work"
command_pid() {
    pgrep -f "^sleep 300.$$\$" >"$work/pid"
}
begin() {
    rm -f "$work/r.db" "$work/r.db.lock"
    # shellcheck disable=SC2086
    $nobody "$SPUR" compare --results "$work/r.db" --seconds $window $short --file "$work/f" --arm odirect --arm fanout --blocks 1 \
        --axis s=300.$$ --prepare "s=$work/become --reuid 0 sleep {}" --allow-code >"$work/out" 2>"$work/err" &
    pid=$!
    wait_until command_pid
    command=$(cat "$work/pid")
}
trap 'kill -9 $command 2>/dev/null; rm -rf "$work"' EXIT
over() { # or a zombie that nobody takes
    ! kill -0 "$1" 2>/dev/null || grep -q ') Z ' "/proc/$1/stat"
}
begin
kill -9 $pid
wait_until over $pid
# shellcheck disable=SC2086
expect 3 $nobody "$SPUR" compare --resume "$work/r.db" --allow-code
one_line
says err "process $pid, which wrote it, is gone, but a prepare command that it began is not over"
kill "$command"
wait_until flock -n "$work/r.db.lock" true
# Where spur is told to end, it says what is left.
begin
kill $pid
code=0
wait $pid || code=$?
[ $code -eq 143 ] || fail "exit code $code"
says err "process group $command of the command could not be ended: see that it is over before --resume"
kill -0 "$command" || fail "it was ended"
