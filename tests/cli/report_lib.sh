# SPDX-License-Identifier: MIT
# What the tests of spur report share beyond lib.sh; to be sourced. MAKE_RESULTS names the generator of results files.
. "$(dirname "$0")/lib.sh"
requires python3
: "${MAKE_RESULTS:?names the generator of results files}"

# results NAME OPTIONS...: $work/NAME with trials that never ran.
results() {
    name=$1
    shift
    "$MAKE_RESULTS" "$work/$name" "$@" >/dev/null || fail "cannot make $name"
}
