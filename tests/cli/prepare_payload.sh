#!/bin/sh
# SPDX-License-Identifier: MIT
# The payload does not compress, no two blocks are equal, and a seed gives the same payload whatever the threads.
. "$(dirname "$0")/lib.sh"
requires gzip split

expect 0 "$SPUR" prepare "$work/f" --size 16M
packed=$(gzip -c "$work/f" | wc -c)
[ "$packed" -ge $((16777216 * 99 / 100)) ] || fail "gzip makes $packed bytes of it"
mkdir "$work/blocks"
split -b 4096 -a 4 "$work/f" "$work/blocks/"
different=$(sha256sum "$work"/blocks/* | cut -c1-64 | sort -u | wc -l)
[ "$different" -eq 4096 ] || fail "only $different of 4096 blocks differ"

expect 0 "$SPUR" prepare "$work/a" --size 16M --seed 5 --threads 1
expect 0 "$SPUR" prepare "$work/b" --size 16M --seed 5 --threads 7
expect 0 "$SPUR" prepare "$work/c" --size 16M --seed 6
payload() { dd if="$1" bs=4096 skip=3000 count=1 2>/dev/null | tail -c +65 | head -c 448 | sha256sum; }
[ "$(payload "$work/a")" = "$(payload "$work/b")" ] || fail "the seed does not decide the payload"
[ "$(payload "$work/a")" != "$(payload "$work/c")" ] || fail "two seeds give one payload"
