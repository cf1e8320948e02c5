#!/bin/sh
# SPDX-License-Identifier: MIT
# Without a form the text; each form to a file or to standard output, whole, of mode 0600, and the same each time.
. "$(dirname "$0")/report_lib.sh"

results r.db --arms 2 --cells 3 --blocks 5 --ratio 1.5
expect 0 "$SPUR" report "$work/r.db"
says out "x as fast as odirect from 1 to 4 threads"
says out "WARNING emulated"
says out "To repeat it: "
[ ! -s "$work/err" ] || fail "a report says something on stderr"
cp "$work/out" "$work/text"

for form in json csv markdown html; do
    expect 0 "$SPUR" report "$work/r.db" --$form -
    cp "$work/out" "$work/$form.out"
    expect 0 "$SPUR" report --$form "$work/r.$form" "$work/r.db"
    [ ! -s "$work/out" ] || fail "--$form FILE prints the text too"
    cmp "$work/$form.out" "$work/r.$form" || fail "--$form - and --$form FILE differ"
    [ "$(stat -c %a "$work/r.$form")" = 600 ] || fail "--$form: mode is not 0600"
done
grep -q '<!DOCTYPE html>' "$work/r.html" || fail "no page"

# All at once, and the text beside them; beside a form on stdout it goes to stderr.
expect 0 "$SPUR" report "$work/r.db" --text --json "$work/a.json" --csv "$work/a.csv" --markdown "$work/a.md" \
    --html "$work/a.html" --charts "$work/charts"
cmp "$work/out" "$work/text" || fail "--text beside other forms is not the text"
cmp "$work/a.csv" "$work/r.csv" || fail "forms differ when made together"
[ -d "$work/charts" ] || fail "no charts"
expect 0 "$SPUR" report "$work/r.db" --text --csv -
cmp "$work/out" "$work/r.csv" || fail "the text is among the CSV"
cmp "$work/err" "$work/text" || fail "the text is not on stderr"

if [ -e /dev/full ]; then
    code=0
    "$SPUR" report "$work/r.db" >/dev/full 2>"$work/err" || code=$?
    [ "$code" -eq 1 ] || fail "exit code $code with a full standard output"
fi
