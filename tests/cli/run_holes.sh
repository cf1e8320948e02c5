#!/bin/sh
# SPDX-License-Identifier: MIT
# Holes and unwritten extents are refused where they can be seen, in the range that is used. Exit 3.
. "$(dirname "$0")/run_lib.sh"

truncate -s 4M "$work/sparse"
refused 3 "has holes" --file "$work/sparse"
prepared tail 2M
truncate -s 4M "$work/tail"
refused 3 "has holes" --file "$work/tail"
refused 3 "has holes" --file "$work/tail" --path buffered --op write
trial 0 --file "$work/tail" --range 2M --bytes 2M --path buffered
holds 'r["bytes"] == 2 << 20' 'r["verify"]["status"] == "ok"'
requires fallocate
fallocate -l 4M "$work/allocated" 2>/dev/null || skip "no fallocate on this file system"
refused 3 "unwritten" --file "$work/allocated"
