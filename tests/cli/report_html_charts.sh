#!/bin/sh
# SPDX-License-Identifier: MIT
# --charts: each script runs by itself and draws what is there already; a folder in use is left alone.
. "$(dirname "$0")/report_html_lib.sh"
requires gnuplot

"$MAKE_RESULTS" "$work/db" --arms 3 --cells 4 --blocks 5 --ratio 1.3:0.8,1 --intervals 5 || fail "make-results"
judge hostile "$work/db"
expect 0 "$SPUR" report "$work/db" --charts "$work/charts"
# gnuplot leaves the last colour of one drawing in the first, empty, group of the next.
drawn() {
    grep -v '^<g fill="none" color="#' "$1"
}

[ -z "$(find "$work/charts" -type f ! -perm 0600 -o -type d ! -perm 0700)" ] || fail "others may read the charts"
n=0
for f in "$work"/charts/*.gp; do
    svg=${f%.gp}.svg
    [ -s "$svg" ] || fail "no ${svg##*/}"
    mv "$svg" "$work/before.svg"
    (cd "$work/charts" && gnuplot -d "${f##*/}") || fail "${f##*/} does not run"
    drawn "$work/before.svg" >"$work/out"
    drawn "$svg" | cmp - "$work/out" || fail "${f##*/} draws something else"
    python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$svg" || fail "${svg##*/} is no XML"
    n=$((n + 1))
done
[ $n -eq 9 ] || fail "$n charts instead of 9"
grep -q '<text>&lt;script>alert(1)&lt;/script></text>' "$work/charts/01-set1-throughput.svg" || fail "the key has no name"

before=$(cat "$work"/charts/* | sha256sum)
expect 3 "$SPUR" report "$work/db" --charts "$work/charts"
says err "not empty"
[ "$before" = "$(cat "$work"/charts/* | sha256sum)" ] || fail "a folder in use was touched"
mkdir "$work/empty"
expect 0 "$SPUR" report "$work/db" --charts "$work/empty"
[ "$(find "$work/empty" -name '*.svg' | wc -l)" -eq 9 ] || fail "an empty folder was not filled"
