# SPDX-License-Identifier: MIT
# For tests of the HTML report; to be sourced. MAKE_RESULTS names the maker of synthetic results.
. "$(dirname "$0")/lib.sh"
: "${MAKE_RESULTS:?names the maker of results}"
unset GNUPLOT

judge() {
    python3 "$here/report_html.py" "$@" >"$work/judgement" 2>"$work/err" || fail "$1"
}

# The browser's words, without a network where that can be had.
find_browser() {
    for name in chromium chromium-browser google-chrome; do
        if command -v "$name" >/dev/null; then
            browser=$name
            ! unshare -n true 2>/dev/null || browser="unshare -n $name"
            return
        fi
    done
    skip "no browser is installed: chromium"
}
