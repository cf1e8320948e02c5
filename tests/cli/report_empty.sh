#!/bin/sh
# SPDX-License-Identifier: MIT
# A plan of which no trial was run yet, and one that ended early: said, and no error.
. "$(dirname "$0")/report_lib.sh"

cut() { # SQL: the results without some of them
    python3 - "$work/r.db" "$1" <<'END' || fail "cannot cut the results"
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.executescript(sys.argv[2] + " DELETE FROM events WHERE kind = 'finished';")
END
}
results r.db --arms 2 --cells 2 --blocks 6 --ratio 1.5
cut "DELETE FROM trials WHERE row >= 9;"
expect 0 "$SPUR" report "$work/r.db"
says out "not finished: 9 of 24 trials planned were run"
says out "fewer than 5 blocks: 2 blocks are complete"
says out "Nothing is decided"
cut "DELETE FROM trials;"
expect 0 "$SPUR" report "$work/r.db"
says out "Nothing can be said: no trial was run yet."
for form in json csv markdown html; do
    expect 0 "$SPUR" report "$work/r.db" --$form "$work/r.$form"
done
[ "$(wc -l <"$work/r.csv")" -eq 1 ] || fail "rows without trials"
python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); assert r["trials"] == [] and r["drift"] is None' \
    "$work/r.json" || fail "JSON of no trials"
