#!/bin/sh
# SPDX-License-Identifier: MIT
# Without gnuplot, or with one that fails, the page has all tables and says what to do.
. "$(dirname "$0")/report_html_lib.sh"

"$MAKE_RESULTS" "$work/db" --arms 2 --cells 3 --blocks 5 --intervals 3 || fail "make-results"
cat >"$work/broken" <<'END'
#!/bin/sh
echo 'it is <broken>' >&2
exit 7
END
chmod +x "$work/broken"
for gnuplot in "$work/broken" /nonexistent/gnuplot; do
    expect 0 env GNUPLOT="$gnuplot" "$SPUR" report "$work/db" --html "$work/page.html"
    says err gnuplot
    [ "$gnuplot" != "$work/broken" ] ||
        says err 'spur report: --html: no charts are drawn: gnuplot failed with exit status 7: it is <broken>; mend that'
    cp "$work/page.html" "$work/out"
    says out 'There are no charts here: gnuplot '
    says_not out '<figure'
    [ "$(grep -c '^<tr.*fanout' "$work/out")" -eq 6 ] || fail "rows are missing" # two tables of three cells
    judge page "$work/page.html"
    [ "$gnuplot" = "$work/broken" ] || break
    says out 'gnuplot failed with exit status 7: it is &lt;broken&gt;. Mend that'
    says_not out 'apt-get'
done
says out 'apt-get install gnuplot-nox'
says out 'gnuplot was not found'

# A folder of charts: data and scripts all the same, no SVG.
expect 0 env GNUPLOT=/nonexistent/gnuplot "$SPUR" report "$work/db" --charts "$work/charts"
says err gnuplot
for f in "$work"/charts/*.gp; do
    [ -s "${f%.gp}.dat" ] || fail "$f has no data"
done
[ -s "$work/charts/01-set1-throughput.gp" ] || fail "no script"
[ ! -e "$work/charts/01-set1-throughput.svg" ] || fail "an SVG from nowhere"
cat >"$work/broken" <<'END'
#!/bin/sh
echo half >01-set1-throughput.svg
exit 7
END
expect 0 env GNUPLOT="$work/broken" "$SPUR" report "$work/db" --charts "$work/failed"
says err 'spur report: --charts: no charts are drawn: gnuplot failed with exit status 7; mend that'
diff -r "$work/charts" "$work/failed" || fail "half an SVG is left, or something is missing"
[ -z "$(find "$work/charts" -type f ! -perm 0600 -o -type d ! -perm 0700)" ] || fail "others may read the charts"
