#!/bin/sh
# SPDX-License-Identifier: MIT
# Every job file in examples/ makes a plan; those that this machine can run do, with --quick in still shorter windows.
. "$(dirname "$0")/compare_lib.sh"
. "$(dirname "$0")/external_lib.sh"
requires fio

prepared f 64M
prepared g 64M
gdsio_too() { # which counts whole seconds
    stand_in
    sed -i "s,^tool = gdsio,&\nprogram = $work/gdsio,; s/4,8,16/4/" "$work/job.ini"
    memory=""
    seconds=1s
    FAKE_CUFILE_ROAD=""
}
n=0
for job in "$root"/examples/*.ini; do
    n=$((n + 1))
    name=$(basename "$job" .ini)
    extra=
    memory="--memory emulated"
    seconds=30ms
    sed "s/\\b16M\\b/512K/g; s/\\b8M\\b/256K/g; s/8\\.\\.128/8,16/; s/1\\.\\.64/1,4/" "$job" >"$work/job.ini" # page-locked buffers of 64 threads take long
    case $name in
    published-*) # simulated, on the fakes
        requires_fake_cuda
        sed -i "s,build/curves/a/data.0,$work/f,; s,build/curves/b/data.0,$work/g,; s,build/tests/fake,${SPUR_FAKE_CUFILE:?}," "$work/job.ini"
        sed -i 's/1,2,4,8,16,64/1,4/; s/1,4,16,64/1,4/; s/^threads = 16$/threads = 4/' "$work/job.ini"
        memory="--memory cuda:0"
        extra=--allow-code
        SPUR_LIBCUDA=$SPUR_FAKE_CUDA
        FAKE_CUFILE_ROAD=nvfs
        export SPUR_LIBCUDA FAKE_CUFILE_ROAD
        ;;
    two-mounts) sed -i "s,/mnt/a/file,$work/f,; s,/mnt/b/file,$work/g," "$work/job.ini" ;;
    client-cores)
        sed -i 's,\./remount\.sh,true,' "$work/job.ini"
        extra="--allow-code --file $work/f"
        ;;
    external-fio)
        sed -i "s/16K,1M/1M/; s/1,8/2/" "$work/job.ini"
        memory= # its own
        extra="--file $work/f"
        ;;
    cufile-* | gdsio-*) # on the fakes, whose road is direct
        requires_fake_cuda
        : "${SPUR_FAKE_CUFILE:?}"
        sed -i "s,/opt/cufile/\([0-9.]*\)/libcufile.so.0,$SPUR_FAKE_CUFILE/libcufile.so.\1," "$work/job.ini"
        memory="--memory cuda:0"
        extra="--file $work/f --allow-code"
        SPUR_LIBCUFILE=$SPUR_FAKE_CUFILE/libcufile.so.1.15.1.6
        SPUR_LIBCUDA=$SPUR_FAKE_CUDA
        FAKE_CUFILE_ROAD=nvfs
        [ "$name" = "${name#gdsio}" ] || gdsio_too
        export SPUR_LIBCUFILE SPUR_LIBCUDA FAKE_CUFILE_ROAD
        ;;
    cpu-limit) extra="--axis cpus=0 --file $work/f" ;;
    *) extra="--file $work/f" ;;
    esac
    # shellcheck disable=SC2086
    expect 0 "$SPUR" compare "$work/job.ini" $memory $extra --dry-run
    rm -f "$work/r.db" "$work/r.db.lock"
    # shellcheck disable=SC2086
    expect 0 "$SPUR" compare "$work/job.ini" --quick $memory $extra --results "$work/r.db" --blocks 1 \
        --seconds $seconds --warmup 0s --interval 0 --verify-limit 20ms
    [ "$(sql "$work/r.db" "select count(*) from trials where status = 'ok'")" -ge 2 ] || fail "$name has no two trials"
done
[ $n -ge 21 ] || fail "only $n job files in examples/"
