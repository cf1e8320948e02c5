#!/bin/sh
# SPDX-License-Identifier: MIT
# What cannot be is refused in one line that names it, and nothing is mounted.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/simfs_lib.sh"

# not CODE WORDS ARGUMENTS...
not() {
    want_code=$1
    words=$2
    shift 2
    expect "$want_code" "$SPUR" simfs "$@"
    one_line
    says err "$words"
    not_mounted || fail "it was mounted: $*"
}

not 2 "MOUNT is missing" --size 1M
not 2 "--size is missing" "$mount"
not 2 "below the least value" "$mount" --size 100
not 2 "no multiple of 4096" "$mount" --size 1M --rpc 5000
not 2 "max_pages_limit" "$mount" --size 1M --rpc 1G
not 2 "no unit" "$mount" --size 1M --rate 3x/s
not 2 "4K/s" "$mount" --size 1M --write-rate 100
not 2 "more than 100 %" "$mount" --size 1M --jitter 101
not 2 "character 13 ('x')" "$mount" --size 1M --faults error:EIO@n=x
not 2 "no such server" "$mount" --size 1M --servers 2 --faults hang@server=2
not 2 "'disk' is not known" "$mount" --size 1M --backing disk
not 2 "--size and --unmount" --unmount "$mount" --size 1M
not 2 "takes no MOUNT" --self-test "$mount"
not 3 "is no mount of simfs" --unmount "$mount"
not 3 "is no mount of simfs" --unmount /proc
not 3 "No such file" --unmount "$work/none"
not 3 "No such file" "$work/none" --size 1M
touch "$work/file"
not 3 "is no directory" "$work/file" --size 1M
not 3 "is not empty" "$work" --size 1M
not 3 "is no loop device" "$mount" --size 1M --fuseblk "$work/file"
simfs --size 1M
expect 3 "$SPUR" simfs "$mount" --size 1M
says err "is not empty"
unmounted
