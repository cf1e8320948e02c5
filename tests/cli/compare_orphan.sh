#!/bin/sh
# SPDX-License-Identifier: MIT
# kill -9 while a command prepares: the command ends, with what it started; --resume waits for that, and runs it again.
. "$(dirname "$0")/compare_lib.sh"

prepared f 4M
over() { # or a zombie that nobody takes
    ! kill -0 "$1" 2>/dev/null || grep -q ') Z ' "/proc/$1/stat"
}
cat >"$work/prepare" <<'END'
#!/bin/sh
[ ! -e "$0.pid" ] || {
    for pid in $(cat "$0.pid"); do
        ! kill -0 "$pid" 2>/dev/null || grep -q ') Z ' "/proc/$pid/stat" || echo "$pid lives" >>"$0.beside"
    done
    exit 0
}
[ "$1" != hard ] || trap '' TERM
sleep 300 &
echo "$$ $!" >"$0.new"
mv "$0.new" "$0.pid"
wait
sleep 300
END
chmod +x "$work/prepare"
begin() { # VALUE
    rm -f "$work/r.db" "$work/r.db.lock" "$work"/prepare.*
    # shellcheck disable=SC2086
    "$SPUR" compare --results "$work/r.db" --seconds $window $short --file "$work/f" --arm odirect --arm fanout --blocks 1 \
        --axis "state=$1" --prepare "state=$work/prepare {}" --allow-code >"$work/out" 2>"$work/err" &
    pid=$!
    wait_until test -s "$work/prepare.pid"
}
for value in easy hard; do # hard: ignores SIGTERM
    begin $value
    kill -9 $pid
    wait_until over $pid # a zombie from here on
    expect 0 "$SPUR" compare --resume "$work/r.db" --allow-code
    [ ! -e "$work/prepare.beside" ] || fail "$(cat "$work/prepare.beside") beside the next one"
    [ "$(sql "$work/r.db" "select count(*) from trials where status = 'ok'")" -eq 2 ] || fail "not all trials"
done
# Its guard is killed: the command ends, and that is an error of the experiment.
begin easy
kill -9 "$(cut -d ' ' -f 4 "/proc/$(cut -d ' ' -f 1 "$work/prepare.pid")/stat")"
code=0
wait $pid || code=$?
[ $code -eq 1 ] || fail "exit code $code"
says err "the process that watched it was killed"
for one in $(cat "$work/prepare.pid"); do
    wait_until over "$one"
done
