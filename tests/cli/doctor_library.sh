#!/bin/sh
# SPDX-License-Identifier: MIT
# The cuFile library is told by its file, as spur which does: nothing is loaded; what is known of it is said.
. "$(dirname "$0")/doctor_lib.sh"
: "${SPUR_FAKE_CUFILE:?}"

at() { # VERSION OPTIONS...: doctor's page where LD_LIBRARY_PATH has that version; none of it may run
    ln -sf "$SPUR_FAKE_CUFILE/libcufile.so.$1" "$work/libcufile.so.0"
    shift
    LD_LIBRARY_PATH=$work FAKE_CUFILE_FAIL=load:1:abort expect 4 "$SPUR" doctor --json "$@"
}
for options in "" --no-probe; do
    # shellcheck disable=SC2086
    at 1.15.1.6 $options
    holds "r['facts']['library']['version'] == '1.15.1.6'" "r['facts']['library']['found_by'] == 'LD_LIBRARY_PATH'" \
        "r['facts']['library']['requests'] == 'one piece at a time'" "r['simulated']" "not found('library', 'fail')" \
        "any('$work' in f['found'] and 'CUDA 13.0' in f['found'] for f in found('library', 'pass'))" \
        "any('one piece at a time' in f['found'] and '1.18.1' in f['remedy'] for f in found('library', 'note'))"
done
at 1.9.1.3
holds "any('statistics: no interface' in f['found'] for f in found('library', 'note'))" \
    "not any('WekaFS' in f['found'] for f in found('library'))"
at 1.20.0.107
holds "any('without a CUDA driver' in f['found'] for f in found('library', 'warn'))" # there is none here

mkdir "$work/later"
ln -s "$SPUR_FAKE_CUFILE/libcufile.so.1.9.1.3" "$work/later/libcufile.so.0"
LD_LIBRARY_PATH=$work:$work/later expect 4 "$SPUR" doctor --json --check library
holds "any('1 other copy' in f['found'] and 'spur which' in f['remedy'] for f in found('library', 'note'))" \
    "r['facts']['library']['others'][0].endswith('1.9.1.3')"
echo none >"$work/text"
SPUR_LIBCUFILE=$work/text expect 4 "$SPUR" doctor --json --no-probe
holds "'no ELF file' in found('library', 'fail')[0]['found'] or 'ELF' in found('library', 'fail')[0]['found']"
SPUR_LIBCUFILE=$work/none expect 4 "$SPUR" doctor --json --no-probe
holds "'no such file' in found('library', 'fail')[0]['found']" "found('library', 'fail')[0]['remedy']"
SPUR_LIBCUFILE=/proc/self/exe expect 4 "$SPUR" doctor --json --no-probe
holds "'it is no cuFile library' in found('library', 'fail')[0]['found']"

mkdir "$work/jewels" # whose library it is, a record does not tell
ln -s "$SPUR_FAKE_CUFILE/libcufile.so.1.9.1.3" "$work/jewels/libcufile.so.0"
LD_LIBRARY_PATH=$work/jewels expect 4 "$SPUR" doctor --json --record "$work/rec"
! grep -r jewels "$work/rec" || fail "a folder's name is in the record"
expect 4 "$SPUR" doctor --json --root "$work/rec"
holds "r['facts']['library']['version'] == '1.9.1.3'" "r['facts']['library']['file'].endswith('libcufile.so.1.9.1.3')"
