#!/bin/sh
# SPDX-License-Identifier: MIT
# The self-test judges each case and its exit code is its verdict; interrupted, it leaves nothing behind.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/simfs_lib.sh"

simfs --size 1M
unmounted
directories() { find /tmp -maxdepth 1 -name 'spur-simfs.*' -user "$(id -u)" 2>/dev/null | wc -l; }
before=$(directories)
if [ "${1:-}" = whole ]; then
    code=0
    "$SPUR" simfs --self-test >"$work/out" 2>"$work/err" || code=$?
    [ "$(grep -cE '(ok|OFF|not judged: .*)$' "$work/out")" -eq 21 ] || fail "not 21 cases"
    off=$(grep -c 'OFF$' "$work/out")
    good=$(grep -c 'ok$' "$work/out")
    says out "$good within 10 % of the model, $off off"
    for case in "ask for more than this machine can do:this machine reaches" "too slow while other programs:other programs took [0-9]"; do
        n=$(grep -c "not judged: ${case#*:}" "$work/out") || true
        [ "$n" -eq 0 ] || grep -q "^$n .*${case%%:*}" "$work/out" || fail "it does not end with what it could not judge"
        [ "$n" -gt 0 ] || says_not out "${case%%:*}"
    done
    want=1
    [ "$off" -gt 0 ] || [ "$good" -eq 0 ] || want=0
    [ $code -eq $want ] || fail "exit code $code with $off off and $good good"
    [ $code -eq 0 ] && words="the model holds" || words="do not trust figures"
    tail -n 1 "$work/out" | grep -q "^$words" || fail "its last words are others"
fi
env --default-signal=INT "$SPUR" simfs --self-test >"$work/begun" 2>"$work/err" & # not what an earlier one said: it is not begun yet
test=$!
wait_until grep -qs "4K .*500us" "$work/begun"
kill -INT $test
code=0
wait $test || code=$?
[ $code -eq 130 ] || fail "exit code $code instead of 130"
[ "$(directories)" -le "$before" ] || fail "a directory is left in /tmp"
