#!/bin/sh
# SPDX-License-Identifier: MIT
# A library that takes its process down is failed trials of its own arm, with its name and the end of its log; the other arms
# go on. Where no arm at all can be opened nothing is begun.
. "$(dirname "$0")/cufile_lib.sh"
requires sqlite3

prepared f 4M
library=$(library 1.15.1.6)
compares() { # CODE OPTIONS...
    compares_code=$1
    shift
    rm -f "$work"/r.db*
    expect "$compares_code" "$SPUR" compare --results "$work/r.db" --file "$work/f" --memory cuda:0 --seconds 20ms --warmup 0s \
        --interval 0 --request 64K --verify-limit 10ms --blocks "${blocks:-4}" "$@"
}
counts() { # EXPRESSION: of the trials, by arm and status
    found=$(sqlite3 "$work/r.db" "select group_concat(s) from (select a.name || ' ' || t.status || ' ' || count(*) as s
        from trials t join plan p using (row) join arms a on a.arm = p.arm group by a.name, t.status order by a.name)")
    [ "$found" = "$1" ] || fail "trials: $found"
}
FAKE_CUFILE_FAIL=load:1:abort compares 1 --arm odirect --arm cufile:route=any,library="$library" --arm fanout
counts "cufile failed 3,fanout ok 4,odirect ok 4"
says out "failed before its trials, which are run: cufile in cell all: the worker process was killed by SIGABRT; $library"
[ "$(sqlite3 "$work/r.db" "select count(*) from trials where error like '%$library (cuFile 1.15.1.6) was being loaded;%'")" -eq 3 ] ||
    fail "the library is not named"
# It goes on where it crashes no more, but for the arm that was stopped.
expect 1 "$SPUR" compare --resume "$work/r.db" --allow-code
FAKE_CUFILE_FAIL=cuFileHandleRegister:0:abort compares 1 --arm odirect --arm cufile:route=any,library="$library" --region rotate
counts "cufile failed 3,odirect ok 4"
says out "was in use; cufile.log: "
# The pilot of a direct road: each trial has its own then.
export FAKE_CUFILE_ROAD=nvfs
FAKE_CUFILE_FAIL=cuFileRead:2:5 compares 1 --arm odirect --arm cufile:library="$library"
counts "cufile failed 3,odirect ok 4"
says out "no figures: in the pilot of route=direct: $work/f: offset"
FAKE_CUFILE_FAIL=load:1:abort compares 1 --arm a:path=cufile,library="$library" --arm b:path=cufile,route=any,library="$library"
one_line
says err "killed by SIGABRT; $library"
[ ! -e "$work/r.db" ] || fail "an experiment of which nothing can run"
# A driver that cannot be closed says nothing against opening it.
FAKE_CUFILE_FAIL=cuFileDriverClose:1:hang blocks=1 compares 0 --arm odirect --arm cufile:route=any,library="$library" --stall 500ms
[ "$(sqlite3 "$work/r.db" "select count(*) from results where json like '%hung while it closed down%'")" -eq 1 ] || fail "no note"
no_litter
