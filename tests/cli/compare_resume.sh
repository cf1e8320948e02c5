#!/bin/sh
# SPDX-License-Identifier: MIT
# kill -9 loses at most the trial under way; --resume ends with the same plan, each trial once.
. "$(dirname "$0")/compare_lib.sh"

prepared f 4M
n_trials() {
    sql "file:$work/r.db?mode=ro" "select count(*) from trials" 2>/dev/null || echo 0
}
at_least() {
    [ "$(n_trials)" -ge "$1" ]
}
for kill_after in 1 9; do
    rm -f "$work/r.db" "$work/r.db.lock"
    # shellcheck disable=SC2086
    "$SPUR" compare --results "$work/r.db" --seconds 100ms $short --file "$work/f" --arm odirect --arm fanout --threads 1,2 \
        --blocks 5 >"$work/out" 2>&1 &
    pid=$!
    wait_until at_least $kill_after
    kill -9 $pid
    wait $pid 2>/dev/null || :
    before=$(n_trials)
    sql "$work/r.db" "pragma quick_check" | grep -qx ok || fail "the results are damaged"
    sql "$work/r.db" "select row, bytes_per_second, began_realtime_ns from trials order by row" >"$work/kept"
    [ "$before" -lt 20 ] || fail "it was over before it was killed"
    expect 0 "$SPUR" compare --resume "$work/r.db"
    [ "$(n_trials)" -eq 20 ] || fail "not 20 trials after the resumption"
    sql "$work/r.db" "select row, bytes_per_second, began_realtime_ns from trials order by row" >"$work/all"
    [ "$(grep -cFxf "$work/kept" "$work/all")" -eq "$before" ] || fail "trials from before were changed"
    expect 0 "$SPUR" compare --resume "$work/r.db" # nothing is left to do
    [ "$(n_trials)" -eq 20 ] || fail "a finished experiment was gone on with"
done
