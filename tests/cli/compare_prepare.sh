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
