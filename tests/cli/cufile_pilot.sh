#!/bin/sh
# SPDX-License-Identifier: MIT
# The pilot of route=direct sees the road to each GPU; where it fails for another reason than the road, that reason and its
# exit code are told, as without a pilot.
. "$(dirname "$0")/cufile_lib.sh"
export FAKE_CUFILE_ROAD=nvfs FAKE_CUDA_DEVICES=2

prepared f 4M
v=1.18.1.6
direct() { # CODE OPTIONS...
    direct_code=$1
    shift
    trial "$direct_code" --file "$work/f" --path cufile --bytes 4M --set library="$(library $v)" "$@"
}
direct 0 --memory cuda:0,1 --threads 8 --request 256K
holds "r['pilot']['observed'] == 'nvidia-fs'" "[p['memory'] for p in r['parts']] == ['cuda:0', 'cuda:1'] * 4"
# More GPUs than the pilot has requests at least, a file that holds one request.
FAKE_CUDA_DEVICES=6 direct 0 --memory cuda:0,1,2,3,4,5 --threads 6 --request 4M
holds "r['pilot']['status'] == 'ok'"
FAKE_CUFILE_ROAD=nvfs=1,posix=1 direct 3 --memory cuda:0,1 --threads 2
says err "the direct road was asked for, and a pilot"

honest() { # CODE WORDS OPTIONS...: and no word of a road
    honest_code=$1
    honest_words=$2
    shift 2
    direct "$honest_code" --request 256K "$@"
    one_line
    says err "$honest_words"
    says_not err "direct road was asked for"
    [ ! -e "$work/r.json" ] || fail "a result of a trial that never began"
}
honest 2 "more GPUs than threads" --memory cuda:0,1 --threads 1
honest 2 "--depth 9: path cufile" --memory cuda:0 --depth 9 # the job's number, not the pilot's
honest 2 "register=maybe" --memory cuda:0 --set register=maybe
trial 2 --file "$work/f" --path cufile-async --memory cuda:0 --set library="$(library $v)" --set streams=17
says err "streams=17"
says_not err "direct road was asked for"
honest 2 "cannot reach a GPU that is emulated" --memory emulated
# Also where there is no direct road to open a driver for.
FAKE_CUFILE_ROAD=posix honest 2 "--depth 9: path cufile" --memory cuda:0 --depth 9
FAKE_CUFILE_ROAD=posix honest 2 "cannot reach a GPU that is emulated" --memory emulated
FAKE_CUFILE_ROAD=posix trial 2 --file "$work/f" --path cufile-async --memory cuda:0 --set library="$(library $v)" --set streams=17
says err "streams=17"
honest 3 "cuda:7: no such GPU" --memory cuda:7
v=1.15.1.6 # which allows less
honest 1 "is 4000, allowed are 0 to 32" --memory cuda:0 --set json.execution.max_io_threads=4000
says_not err "spur doctor" # which looks at a file, where the value is not
v=1.18.1.6
honest 2 "json=: an empty value" --memory cuda:0 --set json=
trial 2 --file "$work/f" --path cufile --memory cuda:0 --set library=
says err "library=: an empty value"
honest 1 "cufile.json execution.max_io_threads is 4000, allowed are 0 to 128" --memory cuda:0 --set json.execution.max_io_threads=4000
FAKE_CUFILE_FAIL=cuFileRead:2:5 honest 1 "in the pilot of route=direct: $work/f: offset" --memory cuda:0
says err "Input/output error; cufile.log: "
FAKE_CUFILE_FAIL=cuFileHandleRegister:1:5030 honest 1 "CU_FILE_INTERNAL_ERROR (5030)" --memory cuda:0
FAKE_CUFILE_FAIL=cuFileRead:2:abort honest 1 "killed by SIGABRT; $(library $v) (cuFile $v) was in use" --memory cuda:0
FAKE_CUFILE_FAIL=cuFileDriverOpen:1:abort honest 1 "(cuFile $v): its driver was being opened" --memory cuda:0
FAKE_CUFILE_FAIL=cuFileRead:2:hang honest 1 "no request completed for 1 s" --memory cuda:0 --stall 1s
# Long names are cut in their middle: the code, the reason and the file's own name stay.
long=$work/$(printf '%0100d/%0100d/%0100d' 1 2 3)
mkdir -p "$long"
cp "$(library $v)" "$long"
while IFS="|" read -r road fail code words; do
    FAKE_CUFILE_ROAD=$road FAKE_CUFILE_FAIL=$fail expect "$code" "$SPUR" run --file "$work/f" --path cufile --memory cuda:0 \
        --set library="$long/libcufile.so.$v" </dev/null
    one_line
    says err "/libcufile.so.$v"
    says err "$words"
done <<END
posix||3|(5001)
nvfs|cuFileDriverOpen:1:5027|3|(5027)
nvfs|cuFileDriverOpen:1:abort|1|(cuFile $v): its driver was being opened; cufile.log:
END
# What is no matter of nvidia-fs names no check of it, as without a pilot.
for fault in cuFileHandleRegister:1:5028 cuFileDriverOpen:1:9999 cuFileBufRegister:1:5013; do
    for route in direct any; do
        FAKE_CUFILE_FAIL=$fault honest 1 "${fault##*:}" --memory cuda:0 --set route=$route
        says_not err "spur doctor"
    done
done
# One that is interrupted is no refusal.
FAKE_CUFILE_FAIL=cuFileRead:1:hang started --file "$work/f" --path cufile --memory cuda:0 --bytes 4M \
    --set library="$(library $v)"
in_use() { # a folder that need not be there at first
    grep -qs "^use" "$TMPDIR"/spur-trial.*/stage
}
wait_until in_use
kill -INT "$spur_pid"
sleep 0.1 # it cannot stop: a second one kills it
kill -INT "$spur_pid"
ended 130
no_litter
