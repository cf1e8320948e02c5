#!/bin/sh
# SPDX-License-Identifier: MIT
# Directories and files that may not be written, and a read-only file system: exit 1, the cause, nothing changed.
. "$(dirname "$0")/lib.sh"
requires_root "to become another user and to mount"
requires setpriv unshare mount

as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
chmod 755 "$work"
as_nobody "$SPUR" --version >/dev/null 2>&1 || skip "another user cannot run $SPUR"
mkdir -m 755 "$work/dir"
expect 1 as_nobody "$SPUR" prepare "$work/dir/f" --size 1M
one_line
says err "Permission denied"
[ -z "$(ls -A "$work/dir")" ] || fail "something was made"

expect 0 "$SPUR" prepare "$work/dir/f" --size 1M
chmod 444 "$work/dir/f"
fingerprint "$work/dir/f" >"$work/before"
expect 0 as_nobody "$SPUR" prepare "$work/dir/f" --size 1M # reuse needs no right to write
says out "already prepared"
expect 1 as_nobody "$SPUR" prepare "$work/dir/f" --size 2M
says err "Permission denied"
fingerprint "$work/dir/f" >"$work/after"
cmp -s "$work/before" "$work/after" || fail "the file changed"

expect 1 "$SPUR" prepare "$work/no/such/f" --size 1M
says err "No such file or directory"

# shellcheck disable=SC2016
unshare -m true 2>/dev/null || skip "unshare -m is not allowed here"
# shellcheck disable=SC2016
expect 1 unshare -m sh -c 'mount -t tmpfs -o ro none "$1/dir" && exec "$2" prepare "$1/dir/g" --size 1M' sh "$work" "$SPUR"
says err "mounted read-only"
