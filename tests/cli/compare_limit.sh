#!/bin/sh
# SPDX-License-Identifier: MIT
# A limit of file sizes is an error with cause and remedy, not a death: a plan that does not fit leaves no file behind,
# and the trials before one that does not fit are kept.
. "$(dirname "$0")/compare_lib.sh"
requires prlimit

prepared f 1M
mkdir "$work/new"
set -- --file "$work/f" --arm buffered --arm odirect
limited() { # BYTES COMMAND...
    bytes=$1
    shift
    prlimit --fsize="$bytes" "$@"
}
# shellcheck disable=SC2086
expect 1 limited 65536 "$SPUR" compare --results "$work/new/r.db" --seconds $window $short "$@" --blocks 5
one_line
says err "no file may pass 64 KiB here: raise that limit (ulimit -f)"
[ -z "$(ls -A "$work/new")" ] || fail "files were left behind: $(ls -A "$work/new")"

compared 0 "$work/r.db" "$@" --blocks 5
size=$(stat -c %s "$work/r.db")
rm "$work/r.db"
# shellcheck disable=SC2086
expect 1 limited "$size" "$SPUR" compare --results "$work/r.db" --seconds $window $short "$@" --blocks 10
says err "ulimit -f"
says err "ended by an error: finished trials are kept; spur compare --resume $work/r.db goes on"
kept=$(sql "$work/r.db" "select count(*) from trials")
[ "$kept" -gt 0 ] && [ "$kept" -lt 20 ] || fail "$kept of 20 trials are kept"
expect 0 "$SPUR" report "$work/r.db"
says out "it is still running, was killed, or ended by"
expect 0 "$SPUR" compare --resume "$work/r.db" --quiet
[ "$(sql "$work/r.db" "select count(*) from trials")" -eq 20 ] || fail "not all trials after the resumption"

# Where the limit leaves no room for a report.
expect 1 limited 4096 "$SPUR" report "$work/r.db" --html "$work/r.html"
says err "File too large"
says err "ulimit -f"
for left in "$work"/r.html*; do
    [ ! -e "$left" ] || fail "$left was left behind"
done

# Where nothing can be judged a cell is given up, not decided.
compared 0 "$work/n.db" --file "$work/f" --path null,odirect --until-decided
says err "cell all is given up after 5 blocks, for nothing in it can be judged"
says_not err "is decided"
[ "$(sql "$work/n.db" "select count(*) from events where kind = 'decided' and text like 'nothing in it%'")" -eq 1 ] || fail "no word of it in the results"
