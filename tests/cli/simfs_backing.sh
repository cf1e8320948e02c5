#!/bin/sh
# SPDX-License-Identifier: MIT
# Where bytes come from: made as they are read, and then never written; or files, that keep what is written.
. "$(dirname "$0")/run_lib.sh"
. "$(dirname "$0")/simfs_lib.sh"

simfs --size 1T --backing pattern
trial 0 --file "$mount/data.0" --offset 512G --bytes 8M --request 1M --threads 2 --memory pageable --verify inline
holds 'r["verify"]["status"] == "ok"' 'r["served"] == "simulated"'
expect 1 dd if=/dev/zero of="$mount/data.0" bs=4096 count=1 conv=notrunc
says err "Read-only file system"
expect 2 sh -c ': >>"$1"' sh "$mount/data.0"
unmounted

mkdir "$work/back"
"$SPUR" prepare "$work/back/data.1" --size 1001000 --quiet
simfs --size 1001000 --files 2 --backing "$work/back"
cmp "$work/back/data.1" "$mount/data.1" || fail "not the bytes of the file"
[ "$(stat -c %s "$mount/data.0")" -eq 1001000 ] || fail "another size"
trial 0 --file "$mount/data.0" --op write --request 64K --bytes 960K --memory pageable --overwrite
unmounted
expect 0 "$SPUR" run --quiet --file "$work/back/data.0" --path buffered --request 64K --bytes 960K --memory pageable
expect 3 "$SPUR" simfs "$mount" --size 2M --backing "$work/back"
says err "another size"
echo foreign >"$work/back/data.0"
expect 3 "$SPUR" simfs "$mount" --size 8K --backing "$work/back"
grep -qx foreign "$work/back/data.0" || fail "a foreign file was changed"
head -c 8192 /dev/zero >"$work/back/data.0"
expect 3 "$SPUR" simfs "$mount" --size 8K --backing "$work/back"
says err "not prepared by spur"
expect 1 "$SPUR" simfs "$mount" --size 8K --backing "$work/nowhere"
one_line
says err "--backing: $work/nowhere: No such file or directory (stat); make the directory first"
expect 3 "$SPUR" simfs "$mount" --size 8K --backing "$mount/"
one_line
says err "is MOUNT itself"
[ -z "$(ls -A "$mount")" ] || fail "a file was left in the mount point"
