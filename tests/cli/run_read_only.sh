#!/bin/sh
# SPDX-License-Identifier: MIT
# Writing on a read-only file system: exit 1 with the remedy; reading works there.
. "$(dirname "$0")/run_lib.sh"
requires_root "mounting"
requires unshare

prepared f 1M
unshare -m true 2>/dev/null || skip "no mount namespace"
read_only() {
    unshare -m sh -c 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && shift && exec "$@"' sh "$work" "$SPUR" "$@"
}
read_only help >/dev/null 2>&1 || skip "no read-only bind mount"
expect 1 read_only run --file "$work/f" --op write --seconds 1s
one_line
says err "mounted read-only"
expect 0 read_only run --file "$work/f" --bytes 1M
