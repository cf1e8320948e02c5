#!/bin/sh
# SPDX-License-Identifier: MIT
# On tmpfs every path works, and the result says that memory served the bytes.
[ -d /dev/shm ] && TMPDIR=/dev/shm
export TMPDIR
. "$(dirname "$0")/run_lib.sh"

[ "$(stat -f -c %T "$work")" = tmpfs ] || skip "no tmpfs at /dev/shm"
prepared f 1M
for path in buffered mmap odirect fanout; do
    trial 0 --file "$work/f" --path $path --bytes 1M --request 64K --verify inline
    holds 'r["served"] == "memory"' 'r["bytes"] == 1 << 20' 'r["verify"]["status"] == "ok"' \
        'any("not to be ranked" in n for n in r["notes"])'
done
trial 0 --file "$work/f" --path odirect --op randread --request 1000 --bytes 100000
holds 'r["effective"]["offset_align"] == 1' 'r["bytes"] == 100000' 'r["verify"]["status"] == "ok"'
