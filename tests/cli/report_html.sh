#!/bin/sh
# SPDX-License-Identifier: MIT
# The page in a browser, light and dark, with names that try to break it: all panels are there and readable, nothing is
# asked for, and names are text.
. "$(dirname "$0")/report_html_lib.sh"
find_browser

"$MAKE_RESULTS" "$work/db" --arms 3 --cells 4 --blocks 5 --ratio 1.3:0.8,1 --intervals 5 --aa --wire || fail "make-results"
judge hostile "$work/db"
expect 0 "$SPUR" report "$work/db" --html "$work/page.html"
judge page "$work/page.html"
for theme in light dark; do
    # 5 panels, 4 cells over time, the order of trials
    # shellcheck disable=SC2086
    judge open "$work/page.html" $theme 10 $browser
    grep -qF '"heading": "\"><img src=x onerror=alert(1)>'"'" "$work/judgement" || fail "no name in the heading"
    grep -qF 'against <script>alert(1)</script>"' "$work/judgement" || fail "no baseline in the heading"
done

# What the judge looks for, it finds.
sed 's#<h1>#<h1><img src="http://127.0.0.1/x.png">#' "$work/page.html" >"$work/asks.html"
# shellcheck disable=SC2086
! python3 "$here/report_html.py" open "$work/asks.html" light 10 $browser 2>"$work/err" || fail "a request went unseen"
says err "asked for ['img-src http://127.0.0.1/x.png']"
sed 's/var(--text)/#222222/' "$work/page.html" >"$work/dark.html"
sed 's/id="c[0-9]*-/id="/g' "$work/page.html" >"$work/ids.html"
# shellcheck disable=SC2086
! python3 "$here/report_html.py" open "$work/dark.html" dark 10 $browser 2>"$work/err" || fail "dark on dark went unseen"
says err "has a contrast of"
# shellcheck disable=SC2086
! python3 "$here/report_html.py" open "$work/ids.html" light 10 $browser 2>"$work/err" || fail "equal ids went unseen"
says err "ids stand twice"
