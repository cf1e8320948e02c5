#!/bin/sh
# SPDX-License-Identifier: MIT
# Each form but CSV ends with the causes, once for all cells that agree; without figures of the wire none is named.
. "$(dirname "$0")/report_lib.sh"

results r.db --arms 2 --cells 4 --wire
expect 0 "$SPUR" report "$work/r.db" --text --json "$work/r.json" --markdown "$work/r.md" --html "$work/r.html"
says out "splitting (confidence likely): from 1 to 8 threads: a request became 4.0 on the wire with fanout"
[ "$(grep -c "splitting" "$work/out")" = 1 ] || fail "cells that agree are said one by one"
says out "Try for odirect: path=fanout"
grep -q "^- splitting" "$work/r.md" || fail "markdown has no cause"
grep -q '<section id="why">' "$work/r.html" || fail "the page has no causes"
python3 - "$work/r.json" <<'END' || fail "JSON"
import json, sys
r = json.load(open(sys.argv[1]))
c = r["causes"][0]
assert len(r["causes"]) == 1 and c["kind"] == "splitting" and c["cells"] == [0, 1, 2, 3] and c["faster"] == "fanout"
assert c["numbers"]["per_request"]["faster_low"] == 4 and r["n_decided"] == 4 and r["n_unexplained"] == 0
END

results dark.db --arms 2 --cells 4
expect 0 "$SPUR" report "$work/dark.db"
says out "no cause is named for 4 of 4 decided comparisons"
