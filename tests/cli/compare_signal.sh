#!/bin/sh
# SPDX-License-Identifier: MIT
# SIGINT: finished trials are kept, the report follows, exit 130, and --resume ends it.
. "$(dirname "$0")/compare_lib.sh"

prepared f 4M
n_ok() {
    sql "file:$work/r.db?mode=ro" "select count(*) from trials where status = 'ok'" 2>/dev/null || echo 0
}
at_least() {
    [ "$(n_ok)" -ge "$1" ]
}
for signal in INT TERM; do
    rm -f "$work/r.db" "$work/r.db.lock"
    # shellcheck disable=SC2086
    setsid "$SPUR" compare --results "$work/r.db" --seconds 300ms $short --file "$work/f" --arm odirect --arm fanout --blocks 5 \
        >"$work/out" 2>"$work/err" &
    pid=$!
    wait_until at_least 3
    kill -s $signal $pid
    code=0
    wait $pid || code=$?
    want=130
    [ $signal = INT ] || want=143
    [ $code -eq $want ] || fail "exit code $code after SIG$signal"
    kept=$(n_ok)
    [ "$kept" -ge 3 ] && [ "$kept" -lt 10 ] || fail "$kept trials were kept"
    says err "--resume"
    says out "fanout"
    expect 0 "$SPUR" compare --resume "$work/r.db"
    [ "$(n_ok)" -eq 10 ] || fail "$(n_ok) trials after the resumption"
    [ "$(sql "$work/r.db" "select count(*) from trials where status = 'interrupted'")" -eq 0 ] || fail "an interrupted trial is left"
done
