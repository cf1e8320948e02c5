#!/bin/sh
# SPDX-License-Identifier: MIT
# Many cells and trials: the page stays small, has every cell in its tables, and says what its charts leave out.
. "$(dirname "$0")/report_html_lib.sh"
requires gnuplot

"$MAKE_RESULTS" "$work/db" --arms 3 --cells 150 --blocks 5 --intervals 2 || fail "make-results"
expect 0 "$SPUR" report "$work/db" --html "$work/page.html"
size=$(wc -c <"$work/page.html")
[ "$size" -lt 3000000 ] || fail "the page has $size bytes"
grep -o '<section id="[a-z]*">\|^<tr' "$work/page.html" | uniq -c >"$work/out"
grep -q ' 300 <tr' "$work/out" || fail "the table of cells is not whole"
grep -q ' 450 <tr' "$work/out" || fail "the table of metrics is not whole"
cp "$work/page.html" "$work/out"
says out '120 of 150 points are drawn, spread evenly.'
says out '24 of 150 cells are drawn, spread evenly over all; 126 are left out.'
grep -q 'of 2250 trials are drawn' "$work/out" || fail "the order says nothing of what is left out"
judge page "$work/page.html"
