#!/bin/sh
# SPDX-License-Identifier: MIT
# File names are bytes: whatever they hold, that very file is made, and messages stay one line.
. "$(dirname "$0")/lib.sh"

cd "$work" || exit 1
mkdir d
newline='a
b'
latin=$(printf 'a\377b')
long=$(printf '%0255d' 0)
for name in "a b" "a:b" "$newline" "-x" "--size" "a'b\"c" "$latin" "$long" "a,b=c" "*" "\\n"; do
    expect 0 "$SPUR" prepare --size 5000 -- "$name"
    [ "$(wc -l <"$work/out")" -eq 1 ] || fail "the summary is not one line"
    [ "$(stat -c %s -- "$name")" -eq 5000 ] || fail "$name: not made"
    expect 0 "$SPUR" prepare --size=6000 "d/$name"
    [ "$(ls -A d | tr -d '\n')" = "$(printf '%s' "$name" | tr -d '\n')" ] || fail "another file was made: $(ls -A d)"
    rm -- "$name" "d/$name"
    : >"d/$name"
    expect 3 "$SPUR" prepare --size=6000 "d/$name"
    one_line
    rm "d/$name"
done
expect 1 "$SPUR" prepare --size 1K "${long}1"
one_line
says err "name too long"
