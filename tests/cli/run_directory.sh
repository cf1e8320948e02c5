#!/bin/sh
# SPDX-License-Identifier: MIT
# A directory stands for its regular files; links are not followed, small ones are left out with a note.
. "$(dirname "$0")/run_lib.sh"

mkdir "$work/dir" "$work/dir/sub"
for name in b a sub/deep; do
    prepared "dir/$name" 1M
done
prepared other 1M
ln -s ../other "$work/dir/link"
mkfifo "$work/dir/fifo"
echo small >"$work/dir/small"
names='[f["name"].split("/")[-1] for f in r["effective"]["files"]]'
trial 0 --file "$work/dir" --bytes 2M --request 64K --threads 2
holds "$names == ['a', 'b']" 'r["effective"]["files_skipped"] == 1' 'any("smaller than one request" in n for n in r["notes"])' \
    '[(p["file"], p["bytes"]) for p in r["parts"]] == [(0, 1 << 20), (1, 1 << 20)]'
trial 0 --file "$work/dir" --file "$work/other" --bytes 3M --request 64K --threads 4 --verify inline
holds "$names == ['a', 'b', 'other']" 'r["bytes"] == 3 << 20' 'r["verify"]["bytes_timed_verified"] == 3 << 20'
refused 3 "smaller than one request" --file "$work/dir" --request 2M
ln "$work/other" "$work/dir/hard"
refused 2 "the same file" --file "$work/dir" --file "$work/other" --op write --request 64K
refused 2 "the same file" --file "$work/other" --file "$work/other" --op mix --request 64K
