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
# One file by another name: each form would replace the one before.
mkdir "$work/sub"
ln -s "$work" "$work/link"
ln -s r.db "$work/alias.db"
bad 2 "--html and --json both go to $work/z" "$work/r.db" --html "$work/sub/../z" --json "$work/z"
bad 2 "--json and --csv both go to $work/z" "$work/r.db" --csv "$work/z" --json "$work/link/z"
bad 2 "--html and --charts both go to $work/z/" "$work/r.db" --html "$work/z" --charts "$work/z/"
bad 3 "--json: $work/link/r.db is the results file; name another file" "$work/r.db" --json "$work/link/r.db"
bad 3 "is the results file" "$work/alias.db" --html "$work/r.db"
for beside in .lock -journal -wal -shm; do
    bad 2 "results file; name another" "$work/alias.db" --csv "$work/sub/../r.db$beside"
done
bad 2 "is the lock of the results file" "$work/r.db" --charts "$work/r.db.lock"
[ ! -e "$work/z" ] || fail "something was written"
bad 2 "--csv: its value is empty" "$work/r.db" --csv ""
bad 1 "$work/nowhere" "$work/r.db" --json "$work/nowhere/r.json"
