#!/bin/sh
# SPDX-License-Identifier: MIT
# --offset: requests stay inside [offset, offset + range), whatever the op and path; nothing outside is read or written.
. "$(dirname "$0")/run_lib.sh"

prepared f 4M
for path in buffered odirect fanout mmap; do
    for op in read randread; do
        trial 0 --file "$work/f" --path $path --op $op --offset 1M --range 1M --bytes 1M --request 64K --threads 3
        holds "r['verify']['status'] == 'ok' and r['effective']['files'][0]['used_offset'] == 1 << 20"
        holds "r['effective']['files'][0]['used_bytes'] == 1 << 20 and r['bytes'] == 1 << 20"
    done
done
# What lies outside may be as wrong as it likes; what lies inside may not.
dd if=/dev/zero of="$work/f" bs=4096 seek=255 count=1 conv=notrunc 2>/dev/null
dd if=/dev/zero of="$work/f" bs=4096 seek=512 count=1 conv=notrunc 2>/dev/null
trial 0 --file "$work/f" --path fanout --offset 1M --range 1M --bytes 1M --request 100000 --threads 3
trial 1 --file "$work/f" --path fanout --offset 1M --range 1028K --bytes 1028K --request 100000
trial 1 --file "$work/f" --path buffered --offset 1020K --range 64K --bytes 64K --request 64K

prepared w 4M
head -c 4M /dev/urandom >"$work/foreign"
cp "$work/foreign" "$work/before"
for op in write randwrite mix; do
    trial 0 --file "$work/w" --op $op --offset 2M --range 1M --bytes 1M --request 64K --threads 2
    holds "r['verify']['status'] == 'ok' and r['verify']['bytes_pass_verified'] > 0"
done
trial 0 --file "$work/foreign" --op write --overwrite --offset 1M --range 1M --bytes 1M --request 64K
cmp -n 1048576 "$work/foreign" "$work/before" || fail "bytes before the offset were written"
cmp -i 2097152 "$work/foreign" "$work/before" || fail "bytes after the range were written"
cmp -s "$work/foreign" "$work/before" && fail "nothing was written"

refused 2 "after --offset" --file "$work/w" --offset 4M
refused 2 "no multiple of" --file "$work/w" --offset 100
refused 2 "writes go in multiples" --file "$work/w" --path buffered --op write --offset 100
