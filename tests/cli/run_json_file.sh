#!/bin/sh
# SPDX-License-Identifier: MIT
# The result file: 0600, whole or not at all; replaced only where spur wrote it; what cannot be written is said first.
. "$(dirname "$0")/run_lib.sh"

prepared f 1M
trial 0 --file "$work/f" --bytes 1M --seed 1
[ "$(stat -c %a "$work/r.json")" = 600 ] || fail "mode $(stat -c %a "$work/r.json")"
expect 0 "$SPUR" run --quiet --file "$work/f" --bytes 1M --seed 2 --json "$work/r.json"
holds 'r["requested"]["seed"] == 2'
foreign() {
    fingerprint "$1" >"$work/before"
    expect 3 "$SPUR" run --file "$work/f" --seconds 60s --json "$1"
    one_line
    says err "is no result of spur's"
    fingerprint "$1" >"$work/after"
    cmp -s "$work/before" "$work/after" || fail "$1 changed"
}
echo precious >"$work/text"
echo '{"schema": 1}' >"$work/other.json"
: >"$work/empty"
for name in text other.json empty f; do
    foreign "$work/$name"
done
for target in r.json nowhere; do
    ln -sf $target "$work/link"
    expect 3 "$SPUR" run --file "$work/f" --seconds 60s --json "$work/link"
    says err "is a symbolic link"
done
expect 3 "$SPUR" run --file "$work/f" --seconds 60s --json "$work"
expect 3 "$SPUR" run --file "$work/f" --seconds 60s --json /dev/null
[ -c /dev/null ] || fail "/dev/null is gone"
expect 1 timeout 20 "$SPUR" run --file "$work/f" --seconds 60s --json "$work/none/r.json"
one_line
says err "$work/none"
[ -z "$(find "$work" -name 'r.json.*')" ] || fail "a temporary file was left"
