#!/bin/sh
# SPDX-License-Identifier: MIT
# --resume refuses what changed, and says which: the file, its contents, the settings, the binary; a second process on one
# file is refused.
. "$(dirname "$0")/compare_lib.sh"

prepared f 4M
plan="--file $work/f --arm odirect --arm fanout --threads 1,2 --blocks 5"
unfinished() {
    rm -f "$work/r.db" "$work/r.db.lock"
    # shellcheck disable=SC2086
    expect 0 "$SPUR" compare --results "$work/r.db" --seconds $window $short $plan --limit 1ms
    [ "$(sql "$work/r.db" "select count(*) from trials")" -eq 4 ] || fail "--limit did not stop it after one block"
}
unfinished
cp "$work/f" "$work/f.kept"

cp "$work/r.db" "$work/copy.db"
# shellcheck disable=SC2086
expect 3 "$SPUR" compare --resume "$work/r.db" --seconds $window $short --file "$work/f" --arm odirect --arm fanout --threads 1,4
one_line
says err "plan's axes changed"
# shellcheck disable=SC2086
expect 3 "$SPUR" compare --resume "$work/r.db" --seconds $window $short --file "$work/f" --arm odirect --arm fanout:depth=2 \
    --threads 1,2
says err "plan's arms changed"

# Options of the plan are given all or none.
for option in "--blocks 10" "--seed 3" "--arm odirect" "--threads 1,2" "--quick"; do
    # shellcheck disable=SC2086
    expect 2 "$SPUR" compare --resume "$work/r.db" $option
    one_line
    says err "--resume: the plan is in $work/r.db, and what is given beside it is no whole plan"
done
# shellcheck disable=SC2086
expect 3 "$SPUR" compare --resume "$work/r.db" --seconds $window $short $plan --seed 3
one_line
says err "plan's seed changed"
expect 0 "$SPUR" compare --resume "$work/r.db" --dry-run
says out "block 5,"
expect 0 "$SPUR" compare --resume "$work/r.db" --write-job "$work/again.ini"
expect 0 "$SPUR" compare "$work/again.ini" --dry-run
cmp -s "$work/r.db" "$work/copy.db" || fail "a dry run changed the results"

truncate -s 3M "$work/f"
expect 3 "$SPUR" compare --resume "$work/r.db"
says err "bytes changed"
rm "$work/f"
prepared f 4M
expect 3 "$SPUR" compare --resume "$work/r.db"
says err "file "
says err "changed since this experiment began"
cmp -s "$work/r.db" "$work/copy.db" || fail "a refused resumption changed the results"

unfinished
cp "$work/r.db" "$work/again.db"
# A resumed one runs a block too, whatever its limit; the report has no limit that is not its own.
expect 0 "$SPUR" compare --resume "$work/again.db" --limit 1ms
[ "$(sql "$work/again.db" "select count(*) from trials")" -eq 8 ] || fail "not one block more"
says out "limit of time reached: 8 of 20 trials planned"
expect 0 "$SPUR" compare --help
tr -s ' \n' ' ' <"$work/out" >"$work/help"
grep -q "after the first block, begin none" "$work/help" || fail "the help does not say that one block always runs"
cp "$SPUR" "$work/spur-other"
printf x >>"$work/spur-other"
expect 3 "$work/spur-other" compare --resume "$work/r.db"
says err "spur's binary changed"
sqlite3 "$work/r.db" "select count(*) from trials" | grep -qx 4 || fail "trials were added"

# A second one while the first runs.
# shellcheck disable=SC2086
"$SPUR" compare --resume "$work/r.db" >"$work/first" 2>&1 &
pid=$!
first_runs() {
    [ "$(sql "file:$work/r.db?mode=ro" "select count(*) from trials" 2>/dev/null || echo 0)" -ge 5 ]
}
wait_until first_runs
expect 3 "$SPUR" compare --resume "$work/r.db"
one_line
says err "r.db"
wait $pid || fail "the first one was disturbed"
[ "$(sql "$work/r.db" "select count(*) from trials")" -eq 20 ] || fail "the limit of the first run held in the second"
