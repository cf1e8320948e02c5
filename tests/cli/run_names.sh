#!/bin/sh
# SPDX-License-Identifier: MIT
# Odd names of files: the right one is read, and the JSON is valid.
. "$(dirname "$0")/run_lib.sh"

cd "$work" || exit 1
n=0
for name in 'new
line' 'quote"' 'back\slash' "$(printf 'not\377utf8')" 'per%cent %41' '-x' 'ü' "$(printf 'tab\tbell\007')"; do
    n=$((n + 1))
    "$SPUR" prepare --size $((n * 65536)) -- "$name" >/dev/null || fail "prepare"
    expect 0 "$SPUR" run --file="$name" --bytes 64K --request 64K --json r.json
    [ "$(wc -l <out)" -le 8 ] || fail "the name broke the table"
    holds "r['effective']['files'][0]['bytes'] == $n * 65536" 'len(r["requested"]["files"]) == 1' \
        'r["requested"]["files"][0] == r["effective"]["files"][0]["name"]'
    expect 1 "$SPUR" run --file="$name.none" --bytes 64K --json new.json
    one_line
done
expect 2 "$SPUR" run --file ü --path buffered --bytes 64K --request 64K --set "advice=$(printf '\377')"
one_line
says err "no UTF-8"
