#!/bin/sh
# SPDX-License-Identifier: MIT
# Results that got no name: one that is taken gives way to the next.
. "$(dirname "$0")/compare_lib.sh"

prepared f 4M
mkdir "$work/there"
cd "$work/there" || exit 1
plan="--seconds 20ms $short --file $work/f --arm odirect --arm fanout --blocks 1 --quiet"
now=$(date +%s)
for after in 0 1 2 3 4 5 6 7 8 9; do
    name=spur-$(date -d @$((now + after)) +%Y%m%d-%H%M%S)
    : >"$name.db"
    : >"$name-2.db"
done
pids=
for i in 1 2 3; do # also where they are begun at once
    # shellcheck disable=SC2086
    "$SPUR" compare $plan >"$work/out.$i" 2>"$work/err.$i" &
    pids="$pids $!"
done
for pid in $pids; do
    wait "$pid" || fail "$(cat "$work"/err.*)"
done
n=0
for db in spur-*-[3-9].db; do
    [ "$(sql "$db" "select count(*) from trials where status = 'ok'")" -eq 2 ] || fail "$db is not whole"
    n=$((n + 1))
done
[ $n -eq 3 ] || fail "$n results: $(ls)"
[ -z "$(find . -name '*.db' -size +0 ! -name '*-[3-9].db')" ] || fail "a file that was there was written"
