#!/bin/sh
# SPDX-License-Identifier: MIT
# A program that hangs, or whose spur goes, never outlives its trial; one that fails says why.
. "$(dirname "$0")/external_lib.sh"

prepared f 1M
stand_in
export FAKE_GDSIO=hung
options="--file $work/f --path external --set tool=gdsio --set program=$work/gdsio --memory pageable --request 64K --warmup 0s"
has_pid() {
    [ -s "$work/pid" ]
}
program_gone() {
    gone "$(cat "$work/pid")"
}
# shellcheck disable=SC2086
trial 1 $options --seconds 1 --stall 500ms
says err "no request completed for 0.5 s"
holds 'r["bytes"] is None and r["nulls"]["bytes"]'
wait_until program_gone
for signal in INT KILL; do
    rm -f "$work/pid"
    # shellcheck disable=SC2086
    started $options --seconds 100
    wait_until has_pid
    kill -$signal "$spur_pid"
    code=0
    wait "$spur_pid" || code=$?
    [ $signal = KILL ] || [ $code -eq 130 ] || fail "exit code $code after SIG$signal"
    wait_until program_gone
done
requires fio
# shellcheck disable=SC2086
trial 1 --file "$work/f" --path external --set tool=fio --set args=--nice=nonsense --memory pageable --request 64K --threads 1 --bytes 64K
says err "fio ended with status 1"
says err nonsense
holds 'len(r["errors"]) == 1 and r["requests_per_second"] is None and r["external"]["command"][-1] == "--nice=nonsense"'
