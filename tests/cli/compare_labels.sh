#!/bin/sh
# SPDX-License-Identifier: MIT
# An axis that has the name of a column of the CSV gets a column of another name; the events have the commands that were run.
. "$(dirname "$0")/compare_lib.sh"

prepared f 4M
compared 0 "$work/r.db" --file "$work/f" --arm odirect --arm fanout --blocks 1 --allow-code --axis "status=a,b c" \
    --axis axis_row=1 --axis row=7 --axis cores=1 --verify sample,off --prepare "status=/bin/true x{} '\$'" \
    --prepare axis_row=/bin/true --prepare row=/bin/true --prepare cores=/bin/true
expect 0 "$SPUR" report "$work/r.db" --csv "$work/r.csv"
python3 - "$work/r.csv" <<'END' || fail "the CSV is not as it must be"
import csv, sys
names, *rows = csv.reader(open(sys.argv[1], newline=""))
assert len(set(names)) == len(names), names
assert names[8:14] == ["status", "axis_status", "axis_row", "axis_axis_row", "cores", "axis_verify"], names
for row in map(lambda row: dict(zip(names, row)), rows):
    assert row["status"] == "ok" and row["axis_status"] in ("a", "b c"), row
    assert row["axis_axis_row"] == "7" and row["axis_verify"] in ("sample", "off"), row
END
[ "$(sql "$work/r.db" "select group_concat(text, ';') from (select text from events where kind = 'prepared' and text like '%x%'
    order by text)")" = "/bin/true 'xb c' '\$';/bin/true xa '\$'" ] || fail "$(sql "$work/r.db" "select text from events")"
expect 0 "$SPUR" compare --resume "$work/r.db" --allow-code --quiet
[ "$(sql "$work/r.db" "select text from events where kind = 'started' order by event desc limit 1")" = \
    "spur compare --resume $work/r.db --allow-code --quiet" ] || fail "$(sql "$work/r.db" "select text from events")"
sql "$work/r.db" "select text from events where kind = 'started' order by event limit 1" |
    grep -q "^spur compare --results $work/r.db --seconds" || fail "not the command as it was given"
