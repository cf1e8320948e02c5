#!/bin/sh
# SPDX-License-Identifier: MIT
# The pages in docs/man are what the program prints; every option is in help, page and parser; mandoc finds no fault.
. "$(dirname "$0")/lib.sh"

page() { [ "$1" = spur ] && echo spur.1 || echo "spur-$1.1"; }
for name in spur list doctor which prepare run compare report simfs help; do
    expect 0 "$SPUR" help --man $name
    cmp -s "$work/out" "$root/docs/man/$(page $name)" ||
        fail "docs/man/$(page $name) is not what the program prints: run ninja -C build man-pages"
done
for name in list doctor which prepare run compare report simfs help; do
    expect 0 "$SPUR" $name --help
    sed -n 's/^  --\([a-z-]*\).*/\1/p' "$work/out" >"$work/options"
    [ -s "$work/options" ] || fail "help of $name shows no options"
    sed -n 's/^\.It Fl -\([a-z-]*\).*/\1/p' "$root/docs/man/$(page $name)" | grep -vx help >"$work/in-page"
    cmp -s "$work/options" "$work/in-page" || fail "help and page of $name differ: $(diff "$work/options" "$work/in-page")"
    while read -r option; do
        # Its value may be wrong; the option is known, and the other is not.
        expect 2 "$SPUR" $name --"$option=x" --no-such-option
        says_not err "unknown option --$option"
    done <"$work/options"
done
expect 2 "$SPUR" list --no-such-option
says err "unknown option --no-such-option" # what the loop above looks for

command -v mandoc >/dev/null || skip "the pages agree, but mandoc is not installed to check their form"
for file in "$root"/docs/man/*.1; do
    expect 0 mandoc -T lint -W warning "$file"
    [ ! -s "$work/out" ] || fail "mandoc finds faults in $file"
done
