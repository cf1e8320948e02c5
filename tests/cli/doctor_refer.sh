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
export FAKE_CUFILE_ROAD=nvfs
FAKE_CUFILE_FILES_SUPPORTED=0 refers mount --file "$work/f" --path cufile
FAKE_CUFILE_UDEV=missing refers udev --file "$work/f" --path cufile
FAKE_CUFILE_FAIL=cuFileBufRegister:1:5036 refers bar --file "$work/f" --path cufile
truncate -s 2M "$work/holes"
refers file-layout --file "$work/holes" --path odirect
mkfifo "$work/pipe"
refers file --file "$work/pipe"
unset FAKE_CUFILE_ROAD
expect 3 "$SPUR" compare --file "$work/f" --arm odirect --arm cufile --memory cuda:0 --threads 1 --request 256K \
    --seconds 100ms --blocks 1 --results "$work/r.db" --dry-run
says err "spur doctor --check nvidia-fs"
# Names that the code knows.
grep -oE '"[a-z-]+"\}' "$root/src/worker/refer.c" | tr -d '"}' >"$work/names"
grep -ohE 'refer_to\(e, .*"[a-z-]+"' "$root"/src/worker/*.c | grep -oE '[?:] "[a-z-]+"' | tr -d '?: "' >>"$work/names"
[ "$(wc -l <"$work/names")" -gt 15 ] || fail "few names"
expect 0 "$SPUR" doctor --list-checks
while read -r name; do
    says out "| \`$name\` |"
done <"$work/names"
