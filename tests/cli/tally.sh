#!/bin/sh
# SPDX-License-Identifier: MIT
# scripts/tally: a failure, a skip without its reason in the list, and an empty log are never taken for success.
. "$(dirname "$0")/lib.sh"
requires python3

echo 'one: no such device' >"$work/skips"
echo 'prog.two: no tape' >>"$work/skips"
tally() { # CODE LAST-LINE LOG-LINE...
    want_code=$1
    want_line=$2
    shift 2
    printf '%s\n' "$@" >"$work/log"
    expect "$want_code" python3 "$root/scripts/tally" --skips "$work/skips" --save "$work/saved" "$work/log"
    [ "$(tail -n 1 "$work/out")" = "$want_line" ] || fail "not \"$want_line\""
}
line() { printf '{"name": "spur / %s", "result": "%s", "stdout": "%s"}' "$1" "$2" "${3:-}"; }

tally 0 "1 passed, 0 failed, 0 skipped" "$(line a OK)"
tally 1 "1 passed, 1 failed, 0 skipped" "$(line a OK)" "$(line b FAIL)"
tally 1 "0 passed, 1 failed, 0 skipped" "$(line b TIMEOUT)"
tally 1 "0 passed, 1 failed, 0 skipped" "$(line b UNEXPECTEDPASS)"
tally 0 "0 passed, 0 failed, 1 skipped" "$(line one SKIP 'SKIP: no such device here')"
tally 1 "0 passed, 1 failed, 0 skipped" "$(line one SKIP 'SKIP: did not feel like it')"
says out "one: skipped"
tally 1 "0 passed, 1 failed, 0 skipped" "$(line other SKIP 'SKIP: no such device here')"
tally 0 "2 passed, 0 failed, 1 skipped" \
    "$(line prog OK '[       OK ] one\n[  SKIPPED ] two\nno tape\n[       OK ] three\n')"
tally 1 "1 passed, 1 failed, 0 skipped" "$(line prog OK '[       OK ] one\n[  SKIPPED ] three\n')"
tally 1 "1 passed, 1 failed, 0 skipped" "$(line prog FAIL '[       OK ] one\n[ RUN      ] two\n')" # it crashed
tally 1 "1 passed, 2 failed, 0 skipped" "$(line prog FAIL '[       OK ] one\n[  FAILED  ] two\n[  FAILED  ] six\n')"
: >"$work/log"
expect 1 python3 "$root/scripts/tally" --skips "$work/skips" "$work/log"
says out "no test ran"
expect 1 python3 "$root/scripts/tally" --skips "$work/skips" "$work/none"

tally 1 "1 passed, 1 failed, 0 skipped" "$(line a OK)" "$(line b FAIL)"
cp "$work/saved" "$work/first"
tally 0 "1 passed, 0 failed, 0 skipped" "$(line a OK)"
expect 1 python3 "$root/scripts/tally" --sum "$work/first" "$work/saved"
says out "2 passed, 1 failed, 0 skipped"
