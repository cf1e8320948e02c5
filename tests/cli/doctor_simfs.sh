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
expect 3 "$SPUR" doctor --json --no-probe "$mount/data.0"
holds "verdict()['road'] == 'none' and 'hangs' in verdict()['reason']" "'umount' in found('file', 'fail')[0]['remedy']"
wait_until "$SPUR" simfs --unmount "$mount" 2>/dev/null # the killed reader still has to close its files
