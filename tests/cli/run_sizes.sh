#!/bin/sh
# SPDX-License-Identifier: MIT
# Empty files, files below one request, and what an interrupted prepare left are refused. Exit 3.
. "$(dirname "$0")/run_lib.sh"

: >"$work/empty"
echo hello >"$work/small"
refused 3 "is empty" --file "$work/empty"
refused 3 "6 bytes are less than one request of 4096" --file "$work/small" --request 4K
prepared f 1M
refused 3 "less than one request of 2097152" --file "$work/f" --request 2M
python3 - "$work/f" <<'END' # the header that an unfinished file has
import sys
def xxh64(data):
    P = (11400714785074694791, 14029467366897019727, 1609587929392839161, 9650029242287828579, 2870177450012600261)
    M = (1 << 64) - 1
    rot = lambda x, r: ((x << r) | (x >> (64 - r))) & M
    rnd = lambda acc, k: rot((acc + k * P[1]) & M, 31) * P[0] & M
    word = lambda i: int.from_bytes(data[i:i + 8], "little")
    v = [(P[0] + P[1]) & M, P[1], 0, -P[0] & M]
    for i in range(4):
        v[i] = rnd(v[i], word(8 * i))
    h = (rot(v[0], 1) + rot(v[1], 7) + rot(v[2], 12) + rot(v[3], 18)) & M
    for x in v:
        h = ((h ^ rnd(0, x)) * P[0] + P[3]) & M
    h = (h + len(data)) & M
    for i in range(32, len(data), 8):
        h = (rot(h ^ rnd(0, word(i)), 27) * P[0] + P[3]) & M
    h = (h ^ (h >> 33)) * P[1] & M
    h = (h ^ (h >> 29)) * P[2] & M
    return h ^ (h >> 32)
with open(sys.argv[1], "r+b") as f:
    head = f.read(64)
    assert xxh64(head[:56]) == int.from_bytes(head[56:], "little")
    head = b"SPURPART" + head[8:56]
    f.seek(0)
    f.write(head + xxh64(head).to_bytes(8, "little"))
END
refused 3 "unfinished" --file "$work/f" --request 4K
