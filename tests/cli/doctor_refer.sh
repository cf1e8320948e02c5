#!/bin/sh
# SPDX-License-Identifier: MIT
# A refusal of run or compare names the check of doctor that says more, and there is such a check.
. "$(dirname "$0")/doctor_lib.sh"
: "${SPUR_FAKE_CUDA:?}" "${SPUR_FAKE_CUFILE:?}"
export SPUR_LIBCUDA="$SPUR_FAKE_CUDA" SPUR_LIBCUFILE="$SPUR_FAKE_CUFILE/libcufile.so.1.15.1.6"

refers() { # CHECK OPTIONS...: of a run that is refused
    check=$1
    shift
    expect 3 "$SPUR" run --memory cuda:0 --bytes 1M --request 64K "$@"
    says err "spur doctor --check $check $work/"
}
expect 0 "$SPUR" prepare "$work/f" --size 2M
refers nvidia-fs --file "$work/f" --path cufile
SPUR_LIBCUDA=/no/such refers gpu --file "$work/f"
for route in any direct; do # what is missing is missing on every road
    SPUR_LIBCUDA=/no/such refers gpu --file "$work/f" --path cufile --set route=$route
    SPUR_LIBCUFILE=/no/such refers library --file "$work/f" --path cufile --set route=$route
    says_not err route=any
    expect 3 "$SPUR" run --memory cuda:7 --file "$work/f" --path cufile --set route=$route
    says err "spur doctor --check gpu $work/f"
    says_not err route=any
done
SPUR_LIBCUDA=/no/such expect 3 "$SPUR" compare --file "$work/f" --arm buffered --arm odirect --memory cuda:0 \
    --results "$work/r.db" --dry-run
says err "spur doctor --check gpu $work/f"
SPUR_LIBCUFILE=/no/such expect 3 "$SPUR" compare --file "$work/f" --arm odirect --arm cufile --memory cuda:0 \
    --results "$work/r.db" --dry-run
says err "spur doctor --check library $work/f"
export FAKE_CUFILE_ROAD=nvfs
FAKE_CUFILE_FILES_SUPPORTED=0 refers mount --file "$work/f" --path cufile
FAKE_CUFILE_UDEV=missing refers udev --file "$work/f" --path cufile
FAKE_CUFILE_FAIL=cuFileBufRegister:1:5036 refers bar --file "$work/f" --path cufile
truncate -s 2M "$work/holes"
refers file-layout --file "$work/holes" --path odirect
mkfifo "$work/pipe"
refers file --file "$work/pipe"
unset FAKE_CUFILE_ROAD
ln "$work/f" "$work/f;it's"
expect 3 "$SPUR" run --file "$work/f;it's" --path cufile --memory cuda:0 --bytes 1M
says err "spur doctor --check nvidia-fs '$work/f;it'\\''s' says more" # as a shell reads it back
expect 3 "$SPUR" compare --file "$work/f" --arm odirect --arm cufile --memory cuda:0 --threads 1 --request 256K \
    --seconds 100ms --blocks 1 --results "$work/r.db" --dry-run
says err "spur doctor --check nvidia-fs"
refers library --file "$work/f" --path external --set tool=fio --set library=/no/such
expect 0 "$SPUR" prepare "$work/g" --size 2M
if [ -d /dev/shm ] && cp "$work/g" /dev/shm/spur-refer.$$; then
    trap 'rm -rf "$work" /dev/shm/spur-refer.$$' EXIT
    expect 3 "$SPUR" compare --file /dev/shm/spur-refer.$$ --arm odirect --arm fanout --memory pageable --request 64K \
        --match inflight --results "$work/m.db"
    says err "spur doctor --check block-queue /dev/shm/spur-refer.$$"
fi
# Each refusal in the code names a check, or is on this list, for no check of the machine has to do with it.
python3 - "$root" >"$work/names" <<'PYTHON' || fail "see above"
import glob, re, sys
root = sys.argv[1]
others = {('worker/external_execute.c', 'program'), ('worker/external.c', 'program'), # another program, which is not there
          ('workload/territory.c', 'workload'), # files that are too small are refused before, by worker/target.c
          ('plan/order.c', 'plan'), # repeats what the first arm was refused for
          ('sweep/identity.c', 'resume'), ('cli/compare.c', 'resume'), ('cli/compare.c', 'write-job'),
          ('cli/compare_code.c', 'plan'), ('sweep/command.c', 'prepare'), ('driver/cuda.c', 'cuDeviceGet'), # worker/trial_memory.c does
          ('path/cufile_async.c', 'cufile-async'), ('path/cufile_batch.c', 'cufile-batch'), # a library that lacks it: its remedy says all
          ('cli/run_json.c', 'json'), ('driver/cufile.c', 'dlopen'), ('worker/cufile_json.c', 'json')} # files of the user's own
faults, seen, names = [], set(), set()
for name in [f for d in ('worker', 'workload', 'plan', 'sweep', 'path', 'memory', 'driver') for f in glob.glob(f'{root}/src/{d}/*.c')] + \
        glob.glob(f'{root}/src/cli/run*.c') + glob.glob(f'{root}/src/cli/compare*.c'):
    text, short = open(name).read(), name.split('/src/')[1]
    names.update(re.findall(r'refer(?:_to)?\(\w+, "([a-z-]+)"', text))
    for call in re.findall(r'refer_to\(\w+, ([^;]*?),[^,;]*\);', text):
        names.update(re.findall(r'[?:] "([a-z-]+)"', call))
    if short == 'worker/refer.c':
        names.update(re.findall(r'"([a-z0-9-]+)"\}', text) + re.findall(r'return "([a-z-]+)"', text))
    for function in re.split(r'(?m)^}$', text):
        for operation in re.findall(r'error_spur\(\w+, [^";]*SPUR_CODE_REFUSED[^";]*"([^"]*)"', function):
            seen.add((short, operation))
            if (short, operation) not in others and not re.search(r'\brefer(_to)?\(', function):
                faults.append(f'{short}: the refusal of {operation} names no check')
faults += [f'{where}: refuses no {what} any more' for where, what in others - seen]
print('\n'.join(sorted(names)))
sys.exit('\n'.join(faults) or 0)
PYTHON
[ "$(wc -l <"$work/names")" -gt 15 ] || fail "few names"
expect 0 "$SPUR" doctor --list-checks
while read -r name; do
    says out "| \`$name\` |"
done <"$work/names"
