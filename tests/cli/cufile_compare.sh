#!/bin/sh
# SPDX-License-Identifier: MIT
# cuFile's arms in one plan: each trial loads its own library; arms are named by what was observed; one whose direct road
# is not there is refused before the first trial, and the others are compared.
. "$(dirname "$0")/cufile_lib.sh"
requires sqlite3

prepared f 4M
short="--file $work/f --memory cuda:0 --seconds 40ms --warmup 0s --interval 0 --request 64K --verify-limit 20ms --blocks 2"
# shellcheck disable=SC2086
expect 3 "$SPUR" compare --results "$work/r.db" $short --arm odirect \
    --arm old:path=cufile,route=compat,library="$(library 1.15.1.6)" \
    --arm new:path=cufile,route=compat,library="$(library 1.20.0.107)",json.execution.parallel_io=false \
    --arm gds:path=cufile,library="$(library 1.15.1.6)"
says out "refused: gds"
says out "old (compat)"
[ "$(sqlite3 "$work/r.db" "select count(*) from trials where status = 'ok'")" -eq 6 ] || fail "not two trials of each of three arms"
[ "$(sqlite3 "$work/r.db" "select group_concat(v) from (select distinct json_extract(r.json,
    '\$.effective.path_facts.library_version') as v from results r join plan p using (row) join arms a on a.arm = p.arm
    where a.name in ('old', 'new') order by v)")" = 1.15.1.6,1.20.0.107 ] || fail "the arms did not load their own libraries"
says out "simulated"
# shellcheck disable=SC2086
FAKE_CUFILE_ROAD=nvfs expect 0 "$SPUR" compare --results "$work/d.db" $short --arm odirect \
    --arm gds:path=cufile,library="$(library 1.15.1.6)"
says out "gds (nvidia-fs)"
[ "$(sqlite3 "$work/d.db" "select count(*) from trials where status = 'ok' and observed = 'nvidia-fs'")" -eq 2 ] ||
    fail "no direct trials"
# json=FILE is the arm's, not the --json of spur run, and one that is not there is refused.
echo '{"execution": {"max_io_threads": 3}}' >"$work/three.json"
# shellcheck disable=SC2086
expect 0 "$SPUR" compare --results "$work/j.db" $short --arm odirect \
    --arm "three:path=cufile,route=compat,library=$(library 1.18.1.6),json=$work/three.json"
[ "$(sqlite3 "$work/j.db" "select count(*) from results where json_extract(json,
    '\$.effective.path_facts.\"execution.max_io_threads\"') = '3'")" -eq 2 ] || fail "the arm's json was not in force"
# shellcheck disable=SC2086
expect 3 "$SPUR" compare --results "$work/n.db" $short --arm odirect \
    --arm "none:path=cufile,route=compat,library=$(library 1.18.1.6),json=$work/none.json"
says err "none.json: No such file"
# The library alone is enough to be simulated: memory and storage are real here.
# shellcheck disable=SC2046
expect 0 "$SPUR" compare --results "$work/l.db" $(echo "$short" | sed 's/cuda:0/pinned/') --arm odirect \
    --arm mine:path=cufile,route=compat,library="$(library 1.15.1.6)"
says out "WARNING simulated"
# An experiment is of the libraries it began with, whatever their names are.
cp "$(library 1.15.1.6)" "$work/mine.so"
# shellcheck disable=SC2086
expect 0 "$SPUR" compare --results "$work/m.db" $short --arm odirect --arm mine:path=cufile,route=compat,library="$work/mine.so" \
    --limit 1ms
cp "$(library 1.18.1.6)" "$work/new.so"
mv "$work/new.so" "$work/mine.so"
expect 3 "$SPUR" compare --resume "$work/m.db" --allow-code
one_line
says err "arm.mine.library_sha256 changed"
no_litter
# shellcheck disable=SC2086
expect 3 "$SPUR" compare --results "$work/i.db" $short --dry-run --arm odirect \
    --arm old:path=cufile-async,route=compat,library="$(library 1.4.0.31)" # it has no such interface
says err "no stream interface"
