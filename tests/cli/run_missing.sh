#!/bin/sh
# SPDX-License-Identifier: MIT
# Missing and unreadable files. Exit 1.
. "$(dirname "$0")/run_lib.sh"

refused 1 "$work/none: No such file" --file "$work/none"
ln -s none "$work/dangling"
refused 1 "$work/dangling: No such file" --file "$work/dangling"
requires_nobody
prepared f 1M
chmod 600 "$work/f"
expect 1 as_nobody "$SPUR" run --file "$work/f"
one_line
says err "Permission denied"
says err "must be readable by the user"
chmod 444 "$work/f"
expect 1 as_nobody "$SPUR" run --file "$work/f" --op write
one_line
says err "must be writable by the user"
mkdir -m 700 "$work/dir"
expect 1 as_nobody "$SPUR" run --file "$work/dir"
says err "Permission denied"
