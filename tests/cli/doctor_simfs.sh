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
simfs --size 2M --faults "hang@n=1-"
cd "$work" || exit 1
expect 3 "$SPUR" doctor --json --no-probe --record "$work/rec" mount/data.0 # it keeps the mount
holds "verdict()['road'] == 'none' and 'hangs' in verdict()['reason']" "'umount' in found('file', 'fail')[0]['remedy']"
expect 3 "$SPUR" doctor --json --root "$work/rec"
holds "r['files'][0]['facts']['mount']['type'] == 'fuse.spur'" "'hangs' in verdict()['reason']" \
    "found('file', 'fail')[0]['remedy'].split(' -l ')[1].startswith(r['files'][0]['facts']['mount']['mount_point'])"
wait_until "$SPUR" simfs --unmount "$mount" 2>/dev/null # the killed reader still has to close its files
