#!/bin/sh
# SPDX-License-Identifier: MIT
# An io_uring that cannot be used is listed with its reason: the switch of the kernel, a filter, or not built in.
. "$(dirname "$0")/lib.sh"
requires_strace

without() { # ERROR
    expect 0 traced "$work/log" -e trace=io_uring_setup -e inject=io_uring_setup:error="$1" -- "$SPUR" list
    grep -q INJECTED "$work/log" || fail "io_uring was not asked for"
    tr -s ' \n' '  ' <"$work/out" >"$work/flat"
    mv "$work/flat" "$work/out"
    says_not out "io_uring: usable"
}
without ENOSYS
says out "io_uring: io_uring_setup: Function not implemented; the kernel was built without it"
without EPERM
says out "io_uring_setup: Operation not permitted; "
mkdir -p "$work/proc/sys/kernel"
for value in 1 2; do
    echo $value >"$work/proc/sys/kernel/io_uring_disabled"
    SPUR_ROOT=$work without EPERM
    says out "kernel.io_uring_disabled is $value"
done
