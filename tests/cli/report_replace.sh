#!/bin/sh
# SPDX-License-Identifier: MIT
# A file is replaced only if it is a report of spur's in that form; refused before anything is written.
. "$(dirname "$0")/report_lib.sh"

results r.db --arms 2 --cells 2 --blocks 5
for form in html json csv markdown; do
    expect 0 "$SPUR" report "$work/r.db" --$form "$work/r.$form"
    before=$(stat -c %i "$work/r.$form")
    expect 0 "$SPUR" report "$work/r.db" --$form "$work/r.$form"
    [ "$(stat -c %i "$work/r.$form")" != "$before" ] || fail "--$form: the file was not replaced"
done
echo precious >"$work/foreign"
: >"$work/empty"
mkdir "$work/dir"
cp "$work/r.db" "$work/other.db"
echo '{"schema": 1, "spur": "0.1.0"}' >"$work/run.json"
for form in html json csv markdown; do
    for file in foreign empty dir run.json other.db r.db; do
        fingerprint_before=$([ -d "$work/$file" ] || fingerprint "$work/$file")
        expect 3 "$SPUR" report "$work/r.db" --$form "$work/$file"
        one_line
        why="exists and is no report of spur's in that form"
        [ $file != r.db ] || why="is the results file"
        says err "--$form: $work/$file $why"
        [ "$fingerprint_before" = "$([ -d "$work/$file" ] || fingerprint "$work/$file")" ] || fail "$file was touched"
    done
    for other in html json csv markdown; do
        [ "$form" = "$other" ] || expect 3 "$SPUR" report "$work/r.db" --$form "$work/r.$other"
    done
done
# What cannot be looked at is not called anything else.
expect 1 "$SPUR" report "$work/r.db" --html "$work/foreign/page.html"
one_line
says err "Not a directory"
# A link is never replaced, wherever it leads to.
ln -s nowhere "$work/dangling"
for form in html json csv markdown; do
    ln -s "r.$form" "$work/link.$form"
    for link in dangling link.$form; do
        expect 3 "$SPUR" report "$work/r.db" --$form "$work/$link"
        one_line
        says err "--$form: $work/$link is a symbolic link"
        [ -L "$work/$link" ] || fail "--$form: the link $link was replaced"
    done
done
[ ! -e "$work/nowhere" ] || fail "a file was made through a link"
for file in dangling foreign; do
    expect 3 "$SPUR" report "$work/r.db" --charts "$work/$file"
    one_line
    says err "--charts: $work/$file is there and is no folder"
done
# The second form is refused: the first was not written either.
expect 3 "$SPUR" report "$work/r.db" --json "$work/new.json" --csv "$work/foreign"
[ ! -e "$work/new.json" ] || fail "a form was written although another is refused"
expect 3 "$SPUR" report "$work/r.db" --charts "$work"
says err "$work"
