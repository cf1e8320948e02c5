#!/bin/sh
# SPDX-License-Identifier: MIT
# A prepared axis: its command runs whenever a block goes over to another value, before the trials of that value; words go
# to it as they are, no shell sees them; one that fails ends the experiment.
. "$(dirname "$0")/compare_lib.sh"

prepared f 4M
cat >"$work/prepare" <<'END'
#!/bin/sh
[ "$#" -eq 2 ] || exit 9
[ "$2" = 'a b;$(touch injected)' ] || exit 8
printf '%s\n' "$1" >>"$0.log"
[ "$1" != 3 ] || exit 5
END
chmod +x "$work/prepare"
command="$work/prepare {} 'a b;\$(touch injected)'"
compared 0 "$work/r.db" --file "$work/f" --arm odirect --arm fanout --axis cores=1,2 --threads 1,2 --blocks 4 \
    --prepare "cores=$command" --allow-code
n=$(wc -l <"$work/prepare.log")
[ "$n" -ge 5 ] && [ "$n" -le 8 ] || fail "the command ran $n times in 4 blocks of 2 values"
[ "$(sql "$work/r.db" "select count(*) from trials where status = 'ok'")" -eq 32 ] || fail "not 32 trials"
[ "$(sql "$work/r.db" "select count(*) from events where kind = 'prepared'")" -eq "$n" ] || fail "not each run is an event"
[ ! -e injected ] && [ ! -e "$work/injected" ] || fail "a shell saw it"

# shellcheck disable=SC2086
expect 0 "$SPUR" compare --seconds $window $short --file "$work/f" --arm odirect --arm fanout --axis cores=1,2 --prepare "cores=$command" --dry-run
says out "SHA-256 $(sha256sum "$work/prepare" | cut -d' ' -f1)"
compared 1 "$work/r.db" --file "$work/f" --arm odirect --arm fanout --axis cores=3 --prepare "cores=$command" --allow-code
says err "ended with status 5"
says_not err "Input/output error"

# A signal does not wait for it, nor for what it started.
printf '#!/bin/sh\nsleep 300 &\necho $! >"$0.pid"\nwait\n' >"$work/slow"
chmod +x "$work/slow"
rm -f "$work/s.db"
env --default-signal=INT "$SPUR" compare --seconds $window --file "$work/f" --memory pinned --arm odirect --arm fanout --axis cores=1,2 \
    --prepare "cores=$work/slow" --allow-code --blocks 1 --results "$work/s.db" >"$work/out" 2>"$work/err" &
spur=$!
wait_until test -s "$work/slow.pid"
kill -INT $spur
code=0
wait $spur || code=$?
[ $code -eq 130 ] || fail "exit code $code instead of 130"
says err "was interrupted; --resume runs it anew"
over() { # or a zombie that nobody has taken yet
    [ ! -e "/proc/$1/stat" ] || grep -q ') Z ' "/proc/$1/stat"
}
wait_until over "$(cat "$work/slow.pid")"
