#!/bin/sh
# SPDX-License-Identifier: MIT
# odirect names the multiple that the file needs, for requests, ranges and totals.
. "$(dirname "$0")/run_lib.sh"

prepared f 1M
"$SPUR" run --file "$work/f" --path odirect --request 1000 --bytes 1000 >/dev/null 2>"$work/err" &&
    skip "the file system of $work takes any O_DIRECT alignment"
grep -q "takes* O_DIRECT" "$work/err" && skip "no O_DIRECT in $work"
refused 2 "--request 1000 is no multiple of 512" --file "$work/f" --path odirect --request 1000
refused 2 "--range 5000 is no multiple of 512" --file "$work/f" --path odirect --request 4K --range 5000
expect 2 "$SPUR" run --file "$work/f" --path odirect --request 4K --bytes 4999
one_line
says err "--bytes 4999 is no multiple of 512"
expect 2 "$SPUR" run --file "$work/f" --path odirect --request 512 --threads 3 --bytes 100001
says err "512"
