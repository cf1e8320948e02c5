#!/bin/sh
# SPDX-License-Identifier: MIT
# Directories without files, FIFOs, sockets and devices are refused by type, before they are opened. Exit 3.
. "$(dirname "$0")/run_lib.sh"

mkdir "$work/empty" "$work/links"
mkfifo "$work/fifo"
prepared f 1M
ln -s ../f "$work/links/link"
ln -s fifo "$work/to-fifo"
(cd "$work" && python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")')
refused 3 "holds no regular file" --file "$work/empty"
refused 3 "holds no regular file" --file "$work/links"
refused 3 "is a FIFO" --file "$work/fifo"
refused 3 "is a FIFO" --file "$work/to-fifo"
refused 3 "is a socket" --file "$work/socket"
refused 3 "is a character device" --file /dev/zero --device-ok
requires_strace
expect 3 traced "$work/log" -e trace=open,openat -- "$SPUR" run --file /dev/zero
! grep -q '/dev/zero' "$work/log" || fail "the device was opened"
