# SPDX-License-Identifier: MIT
# What the tests of the cuFile paths share beyond run_lib.sh; to be sourced. All of it runs on the fakes.
. "$(dirname "$0")/run_lib.sh"
: "${SPUR_FAKE_CUDA:?names the fake libcuda}" "${SPUR_FAKE_CUFILE:?names the folder of the fake libcufile files}"
export SPUR_LIBCUDA="$SPUR_FAKE_CUDA"

versions="1.4.0.31 1.9.1.3 1.15.1.6 1.18.0.66 1.18.1.6 1.20.0.107"
library() {
    echo "$SPUR_FAKE_CUFILE/libcufile.so.$1"
}

# cufile CODE VERSION OPTIONS...: a short trial on $work/f.
cufile() {
    cufile_code=$1
    cufile_version=$2
    shift 2
    trial "$cufile_code" --file "$work/f" --path "${path:-cufile}" --memory cuda:0 --bytes 4M --request 256K --threads 2 \
        --set library="$(library "$cufile_version")" "$@"
}

# No trial leaves its private directory.
no_litter() {
    [ -z "$(find "$TMPDIR" -maxdepth 1 -name 'spur-trial.*')" ] || fail "a private directory is left"
}
mkdir "$work/tmp"
export TMPDIR="$work/tmp"
