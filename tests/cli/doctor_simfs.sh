#!/bin/sh
# SPDX-License-Identifier: MIT
# A simulated mount is called simulated; one that never answers is called hanging, and doctor ends all the same.
. "$(dirname "$0")/doctor_lib.sh"
. "$(dirname "$0")/simfs_lib.sh"

simfs --size 2M
expect 4 "$SPUR" doctor --json --no-probe "$mount/data.0"
holds "r['simulated'] and r['files'][0]['facts']['mount']['type'] == 'fuse.spur'" \
    "'simulated storage' in found('user-space', 'note')[0]['found']" "verdict()['road'] == 'host only'"
unmounted
simfs --size 2M
server=$(server_pid)
cd "$work" || exit 1
kill -STOP "$server"
expect 3 "$SPUR" doctor --json --no-probe --record "$work/rec" mount/data.0 mount
kill -CONT "$server"
holds "all(verdict(i)['road'] == 'none' and 'hangs' in verdict(i)['reason'] for i in (0, 1))" "'umount' in found('file', 'fail')[0]['remedy']"
expect 3 "$SPUR" doctor --json --root "$work/rec" # it keeps the mount
holds "r['files'][0]['facts']['mount']['type'] == 'fuse.spur'" "'hangs' in verdict()['reason']" \
    "found('file', 'fail')[0]['remedy'].split(' -l ')[1].startswith(r['files'][0]['facts']['mount']['mount_point'])"
unmounted
