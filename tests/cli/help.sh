#!/bin/sh
# SPDX-License-Identifier: MIT
# Help lists all commands but the hidden one, goes to stdout, and names every option that the manual page has.
. "$(dirname "$0")/lib.sh"

expect 0 "$SPUR" --help
cp "$work/out" "$work/help"
expect 0 "$SPUR" help
cmp -s "$work/out" "$work/help" || fail "help and --help differ"
! grep -q "^  worker" "$work/out" || fail "the hidden command is listed"
for command in list prepare run help version; do
    grep -q "^  $command " "$work/help" || fail "$command is not listed"
    expect 0 "$SPUR" $command --help
    [ ! -s "$work/err" ] || fail "help on stderr"
    cp "$work/out" "$work/help1"
    [ "$(wc -L <"$work/help1")" -le 100 ] || fail "lines are too long"
    expect 0 "$SPUR" help $command
    cmp -s "$work/out" "$work/help1" || fail "help $command and $command --help differ"
done
expect 0 "$SPUR" run --file x --help --no-such-option # what comes after --help does not matter
expect 0 "$SPUR" --version
says out "spur "
says out "liburing"
says out "$(uname -r)"

expect 1 sh -c '"$1" --help >/dev/full' sh "$SPUR"
says err "No space left on device"
