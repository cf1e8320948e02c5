#!/bin/sh
# SPDX-License-Identifier: MIT
# What an external program cannot be asked for is refused before it runs, by the name of the option.
. "$(dirname "$0")/external_lib.sh"

prepared f 1M
stand_in
no() { # CODE WORDS OPTIONS...
    code=$1 words=$2
    shift 2
    # shellcheck disable=SC2086
    expect "$code" "$SPUR" run --file "$work/f" --path external --memory "${memory:-pageable}" --request 64K \
        ${length:---seconds 50ms --warmup 0s} --set program="${program:-$work/gdsio}" --json "$work/r.json" "$@"
    one_line
    says err "$words"
    [ ! -e "$work/r.json" ] || fail "a result of a trial that never began"
}
no 2 "path external needs tool=" --verify off
no 2 "tool=dd is none of" --set tool=dd
no 2 "only reads" --set tool=fio --op write
no 2 "only reads" --set tool=gdsio --op mix
no 2 "--verify inline" --set tool=fio --verify inline
no 2 "--share buffer" --set tool=fio --share buffer
no 2 "--unaligned" --set tool=fio --set direct=no --op randread --unaligned
memory=pinned no 2 "memory pinned" --set tool=fio
no 2 "ioengine=sync is none of" --set tool=fio --set ioengine=sync
no 2 "--depth 2" --set tool=fio --depth 2
no 2 "fewer requests than threads" --set tool=fio --threads 17
length="--bytes 64K" no 2 "no multiple of threads" --set tool=fio --threads 2
no 2 "args: --bs=4k is given already" --set tool=fio --set args="--nice=1 --bs=4k"
for option in --readwrite=randread --buffered=1 --numjob=2 --runt=2 --io_limit=4M -readwrite=randread --blocksize=4k --timeout=1 --loops=2 \
    --output=/dev/null --exec_prerun=true "-io_limit 4M"; do
    no 2 "args: ${option%% *} is none of the options" --set tool=fio --set args="--nice=1 $option"
done
no 2 "args: -rw=randread is given already" --set tool=fio --set args="-rw=randread"
no 2 "args: job.fio is no option" --set tool=fio --set args="--nice=1 job.fio"
no 2 "xfer=0: fio with this ioengine does not use it" --set tool=fio --set xfer=0
no 2 "json.execution.parallel_io=true: fio" --set tool=fio --set json.execution.parallel_io=true
no 2 "library=$work/f: fio" --set tool=fio --set library="$work/f"
length="--seconds 1" no 2 "ioengine=psync: gdsio does not use it" --set tool=gdsio --set ioengine=psync
length="--seconds 1" no 2 "args: -U is none of the options" --set tool=gdsio --set args="-b -U"
length="--seconds 1" no 2 "args: rw.gdsio is no option" --set tool=gdsio --set args="-b rw.gdsio"
length="--seconds 1 --warmup 0s" no 2 "args: -I is given already" --set tool=gdsio --set args="-b -I 1"
length="--seconds 1 --warmup 0s" no 2 "args: -I1 is more than one option" --set tool=gdsio --set args="-b -I1" # it would write
length="--seconds 1 --warmup 0s" no 2 "args: -bI is more than one option" --set tool=gdsio --set args="-bI 1"
memory=emulated no 2 "a GPU that is emulated" --set tool=fio
no 2 "whole seconds" --set tool=gdsio
length="--bytes 64K" no 2 "--bytes" --set tool=gdsio
length="--seconds 1" no 2 "--depth 2" --set tool=gdsio --depth 2
length="--seconds 1" no 2 "copies to a GPU" --set tool=gdsio --set xfer=2
length="--seconds 1" no 2 "-x 6 has one thread" --set tool=gdsio --set xfer=6 --threads 2
no 2 "xfer=8 is none of" --set tool=gdsio --set xfer=8
program=$work/none no 3 "No such file" --set tool=fio
program=$work/f no 3 "Permission denied" --set tool=fio
expect 3 env PATH="$work/none" "$SPUR" run --file "$work/f" --path external --memory pageable \
    --set tool=fio --threads 1
says err "no program fio in PATH"
[ ! -e "$work/calls" ] || fail "the program was run"
