#!/bin/sh
# SPDX-License-Identifier: MIT
# Without gnuplot the page and the data are there, and one line says what to install.
. "$(dirname "$0")/report_lib.sh"

results r.db --arms 2 --cells 2 --blocks 5
GNUPLOT=/nonexistent expect 0 "$SPUR" report "$work/r.db" --html "$work/r.html"
one_line
says err "spur report: --html: no charts are drawn without gnuplot; install it"
grep -q '<table' "$work/r.html" || fail "no table in the page"
GNUPLOT=/nonexistent expect 0 "$SPUR" report "$work/r.db" --charts "$work/charts"
one_line
says err "spur report: --charts: no charts are drawn without gnuplot; install it"
[ -n "$(ls "$work/charts")" ] || fail "no data of charts"
