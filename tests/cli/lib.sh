# SPDX-License-Identifier: MIT
# What the shell tests share; to be sourced. SPUR names the program.
# 0 pass, 1 fail, 77 skip with a reason.

: "${SPUR:?names the program to test}"
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/spur-test.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

fail() {
    echo "FAIL: $*" >&2
    for f in out err; do
        [ ! -s "$work/$f" ] || sed "s/^/  $f: /" "$work/$f" >&2
    done
    exit 1
}

skip() {
    echo "SKIP: $*"
    exit 77
}

requires() {
    for tool in "$@"; do
        command -v "$tool" >/dev/null 2>&1 || skip "$tool is not installed"
    done
}

requires_root() {
    [ "$(id -u)" -eq 0 ] || skip "needs root: $*"
}

# expect CODE COMMAND...: its output is in $work/out and $work/err.
expect() {
    want=$1
    shift
    code=0
    "$@" >"$work/out" 2>"$work/err" || code=$?
    [ "$code" -eq "$want" ] || fail "exit code $code instead of $want: $*"
}

# says out|err WORDS: the words are in what the last expect printed.
says() {
    grep -qF -- "$2" "$work/$1" || fail "no \"$2\" in std$1"
}

says_not() {
    ! grep -qF -- "$2" "$work/$1" || fail "\"$2\" in std$1"
}

# An error is one line on stderr, and nothing is on stdout.
one_line() {
    [ "$(wc -l <"$work/err")" -eq 1 ] || fail "stderr is not one line"
    [ ! -s "$work/out" ] || fail "an error printed to stdout"
}

# traced LOG OPTIONS... -- COMMAND...: under strace, which leak checking does not work with.
traced() {
    log=$1
    shift
    options=
    while [ "$1" != -- ]; do
        options="$options $1"
        shift
    done
    shift
    # shellcheck disable=SC2086
    ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" strace -f -o "$log" $options "$@"
}

requires_strace() {
    requires strace
    strace -o /dev/null true 2>/dev/null || skip "strace may not trace here"
}

# Waits until a condition holds (10 seconds at most).
wait_until() {
    waited=0 # of this function alone: a shell's variables are everybody's
    until "$@"; do
        waited=$((waited + 1))
        [ $waited -lt 1000 ] || fail "waited in vain for: $*"
        sleep 0.01
    done
}

# What must stay the same of a file that was not touched.
fingerprint() {
    stat -c '%i %s %Y %y %Z' "$1"
    sha256sum <"$1"
}

magic() {
    dd if="$1" bs=8 count=1 2>/dev/null
}
