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

over() { # or a zombie that nobody takes
    ! kill -0 "$1" 2>/dev/null || grep -q ') Z ' "/proc/$1/stat"
}

# A command that prepares is ended with all that it started, and runs again.
cat >"$work/prepare" <<'END'
#!/bin/sh
echo "$1" >>"$0.log"
[ ! -e "$0.fast" ] || exit 0
[ "$1" != hard ] || trap '' TERM
sleep 300 &
echo $! >"$0.pid"
wait
sleep 300
END
chmod +x "$work/prepare"
for signal in INT TERM; do
    value=easy
    [ $signal = INT ] || value=hard # ignores SIGTERM
    rm -f "$work/r.db" "$work/r.db.lock" "$work"/prepare.*
    # shellcheck disable=SC2086
    setsid "$SPUR" compare --results "$work/r.db" --seconds $window $short --file "$work/f" --arm odirect --arm fanout --blocks 1 \
        --axis state=$value --prepare "state=$work/prepare {}" --allow-code >"$work/out" 2>"$work/err" &
    pid=$!
    wait_until test -s "$work/prepare.pid"
    kill -s $signal $pid
    code=0
    wait $pid || code=$?
    want=130
    [ $signal = INT ] || want=143
    [ $code -eq $want ] || fail "exit code $code after SIG$signal in a command"
    says err "state = $value: the command was interrupted"
    says err "--resume"
    wait_until over "$(cat "$work/prepare.pid")"
    [ "$(n_ok)" -eq 0 ] || fail "trials ran on what was half prepared"
    : >"$work/prepare.fast"
    cp "$work/prepare" "$work/whole"
    echo : >>"$work/prepare"
    expect 3 "$SPUR" compare --resume "$work/r.db" --allow-code
    says err "prepare.state.sha256 changed"
    cp "$work/whole" "$work/prepare"
    expect 0 "$SPUR" compare --resume "$work/r.db" --allow-code
    [ "$(wc -l <"$work/prepare.log")" -eq 2 ] || fail "the command did not run again"
    [ "$(n_ok)" -eq 2 ] || fail "$(n_ok) trials after a command was interrupted"
done
