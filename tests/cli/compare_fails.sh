#!/bin/sh
# SPDX-License-Identifier: MIT
# A failed trial is recorded and the sweep goes on; three in a row stop that arm in that cell; exit 1.
. "$(dirname "$0")/compare_lib.sh"

prepared good 4M
prepared bad 4M
window=200ms
# Block 300 is wrong: only requests of 2 threads and up get there in the few bytes that are read.
dd if=/dev/zero of="$work/bad" bs=4096 seek=300 count=1 conv=notrunc 2>/dev/null
compared 1 "$work/r.db" --arm good:path=buffered,file="$work/good" --arm bad:path=buffered,file="$work/bad" --threads 1,2 \
    --blocks 6 --verify inline
says err "no figures"
says err "is stopped in cell"
says err "not run again"
says_not err "goes on" # --resume has nothing to do
[ "$(sql "$work/r.db" "select count(*) from trials t join plan p using (row) join arms a on a.arm = p.arm
    where a.name = 'good' and t.status = 'ok'")" -eq 12 ] || fail "the good arm has not all its trials"
[ "$(sql "$work/r.db" "select count(*) from trials where status = 'failed' and bytes_per_second is null")" -eq 6 ] ||
    fail "not three failures in each of two cells, without figures"
[ "$(sql "$work/r.db" "select count(*) from events where kind = 'stopped'")" -eq 2 ] || fail "the arm was not stopped in both"
says out "bad"
expect 0 "$SPUR" report "$work/r.db"
says out "expected"
# What was stopped stays stopped.
before=$(sql "$work/r.db" "select count(*) from trials") # more than 18 where a slow trial did not get to the wrong block
expect 1 "$SPUR" compare --resume "$work/r.db"
[ "$(sql "$work/r.db" "select count(*) from trials")" -eq "$before" ] || fail "a stopped arm was run again"
