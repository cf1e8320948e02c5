#!/bin/sh
# SPDX-License-Identifier: MIT
# What is no results file, and what cannot be asked for: one line, and the exit code of the table.
. "$(dirname "$0")/report_lib.sh"

bad() { # CODE WORDS ARGUMENTS...
    code_wanted=$1
    words=$2
    shift 2
    expect "$code_wanted" "$SPUR" report "$@"
    one_line
    says err "$words"
}
results r.db --arms 2 --cells 2 --blocks 5
echo "no database" >"$work/text"
head -c 3000 "$work/r.db" >"$work/cut"
bad 1 "; name a results file" "$work/none"
bad 3 "$work/text" "$work/text"
bad 3 "/dev/null" /dev/null
bad 3 "$work: not a regular file; name a results file" "$work" # a directory
expect 1 "$SPUR" report "$work/cut"
one_line
bad 2 "DB" # the argument is missing
bad 2 "unexpected argument" "$work/r.db" "$work/r.db"
bad 2 "--json and --csv both go to standard output" "$work/r.db" --json - --csv -
bad 2 "both go to $work/x" "$work/r.db" --json "$work/x" --html "$work/x"
bad 2 "--csv: its value is empty" "$work/r.db" --csv ""
bad 1 "$work/nowhere" "$work/r.db" --json "$work/nowhere/r.json"
