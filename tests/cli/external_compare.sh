#!/bin/sh
# SPDX-License-Identifier: MIT
# fio against odirect in one plan: every report names the arm external and unverified. A job file's program needs leave.
. "$(dirname "$0")/compare_lib.sh"
requires fio

prepared f 4M
cat >"$work/job.ini" <<END
[sweep]
file = $work/f
memory = pageable
request = 64K
seconds = 60ms
warmup = 0s
blocks = 1

[arm odirect]
path = odirect

[arm fio]
path = external
tool = fio
program = $(command -v fio)
END
expect 3 "$SPUR" compare "$work/job.ini" --results "$work/r.db"
says err "of a job file runs code"
expect 0 "$SPUR" compare "$work/job.ini" --dry-run
says out "(SHA-256 $(sha256sum "$(command -v fio)" | cut -d ' ' -f 1))"
expect 0 "$SPUR" compare "$work/job.ini" --results "$work/r.db" --allow-code
says out "fio (external, unverified)"
says out "WARNING external: another program ran the trials of fio"
[ "$(sql "$work/r.db" "select count(*) from trials where status = 'ok' and verify = 'unverified'")" = 1 ] || fail "not marked"
for form in markdown html; do
    expect 0 "$SPUR" report "$work/r.db" --$form "$work/r.$form"
    grep -q "fio (external, unverified)" "$work/r.$form" || fail "not named in $form"
done
expect 0 "$SPUR" report "$work/r.db" --json "$work/r.json" --csv "$work/r.csv"
grep -q 'unverified' "$work/r.csv" || fail "not in CSV"
holds 'any(a["verify"] == "unverified" for c in r["cells"] for a in c["arms"])'
expect 3 "$SPUR" compare --resume "$work/r.db"
says err "--allow-code"
