#!/bin/sh
# SPDX-License-Identifier: MIT
# A whole file of that size is kept; another size, another seed or a damaged end is written anew.
. "$(dirname "$0")/lib.sh"
requires python3

f=$work/f
expect 0 "$SPUR" prepare "$f" --size 1000001 --seed 7
says out "seed 7"
fingerprint "$f" >"$work/before"
for seed in "" "--seed=7"; do
    # shellcheck disable=SC2086
    expect 0 "$SPUR" prepare "$f" --size 1000001 $seed --overwrite
    says out "already prepared"
    says out "seed 7"
    fingerprint "$f" >"$work/after"
    cmp -s "$work/before" "$work/after" || fail "the file changed"
done

anew() {
    uuid=$(python3 "$here/judge.py" "$f" 2>/dev/null)
    expect 0 "$SPUR" prepare "$f" "$@"
    says_not out "already"
    python3 "$here/judge.py" "$f" >"$work/uuid" || fail "blocks are wrong after $*"
    [ "$uuid" != "$(cat "$work/uuid")" ] || fail "the same UUID as before after $*"
}
anew --size 1000001 --seed 8
anew --size 2M
anew --size 4097
printf 'x' | dd of="$f" bs=1 seek=4096 conv=notrunc 2>/dev/null
anew --size 4097
truncate -s 1M "$f" # a hole at the end
anew --size 1M
anew --size 2M
if fallocate -p -o 8192 -l 4096 "$f" 2>/dev/null; then # a hole in the middle
    anew --size 2M
fi

requires_strace
expect 0 traced "$work/log" -e trace=desc -- "$SPUR" prepare "$f" --size 2M
says out "already prepared"
! grep -v '/tmp/tsan\.' "$work/log" | grep -E 'O_RDWR|O_CREAT|O_TMPFILE|pwrite|ftruncate|fallocate' || fail "something was written"
