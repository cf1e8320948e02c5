#!/bin/sh
# SPDX-License-Identifier: MIT
# Directories, FIFOs, sockets and devices are refused; links are followed, and the message says where to.
. "$(dirname "$0")/lib.sh"

mkdir "$work/dir"
mkfifo "$work/fifo"
ln -s nowhere "$work/dangling"
echo "precious" >"$work/text"
ln -s text "$work/link"
refused() {
    expect 3 "$SPUR" prepare "$work/$1" --size 1M --overwrite
    one_line
    says err "$2"
}
refused dir "is a directory"
refused fifo "is a FIFO"
refused dangling "points to nothing"
expect 3 "$SPUR" prepare /dev/null --size 1M --overwrite --device-ok
says err "is a character device"
expect 3 "$SPUR" prepare "$work/link" --size 1M
says err "symbolic link to text"
[ "$(cat "$work/text")" = precious ] || fail "the target changed"
expect 2 "$SPUR" prepare "$work/new/" --size 1M
expect 0 "$SPUR" prepare "$work/link" --size 1M --overwrite
[ -L "$work/link" ] && [ "$(magic "$work/text")" = SPURBLK1 ] || fail "the link was not followed"

if command -v python3 >/dev/null; then
    (cd "$work" && python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")')
    refused socket "is a socket"
fi
