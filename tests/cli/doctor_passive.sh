#!/bin/sh
# SPDX-License-Identifier: MIT
# Nothing is changed (ThreadSanitizer's own files aside): no file is opened for writing, nothing is mounted, no module is loaded, the file stays as it is.
. "$(dirname "$0")/doctor_lib.sh"
requires_strace

echo data >"$work/f"
fingerprint "$work/f" >"$work/before"
traced "$work/trace" -e trace=file,mount,init_module,finit_module,delete_module,unlink,ftruncate -- \
    "$SPUR" doctor "$work/f" >"$work/out" 2>"$work/err" || [ $? -eq 4 ] || fail "doctor failed"
! grep -E 'O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|mount\(|_module\(|unlink|rename|mkdir|truncate|chmod|setxattr' "$work/trace" |
    grep -vE '"/dev/null"|"/tmp/tsan\.' || fail "something was to be changed"
fingerprint "$work/f" >"$work/after"
cmp "$work/before" "$work/after" || fail "the file was changed"
