#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An independent reader of docs/block-format.md: judges every block of a file.

judge.py FILE: exit 0 if every byte is what it must be; prints the UUID, the generation and the number of blocks."""
import struct
import sys

M = (1 << 64) - 1
STEP = 0x9E3779B97F4A7C15
ODD = 0xD1342543DE82EF95
P1, P2, P3, P4, P5 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63,
                      0x27D4EB2F165667C5)


def rotl(x, r):
    return (x << r | x >> (64 - r)) & M


def xxh64(data):
    """XXH64 with seed 0 of 32 bytes or more, a multiple of 8."""
    def rnd(acc, lane):
        return rotl((acc + lane * P2) & M, 31) * P1 & M

    words = struct.unpack("<%dQ" % (len(data) // 8), data)
    acc = [(P1 + P2) & M, P2, 0, (-P1) & M]
    n = len(words) // 4 * 4
    for i in range(0, n, 4):
        acc = [rnd(acc[k], words[i + k]) for k in range(4)]
    h = (rotl(acc[0], 1) + rotl(acc[1], 7) + rotl(acc[2], 12) + rotl(acc[3], 18)) & M
    for a in acc:
        h = ((h ^ rnd(0, a)) * P1 + P4) & M
    h = (h + len(data)) & M
    for w in words[n:]:
        h = (rotl(h ^ rnd(0, w), 27) * P1 + P4) & M
    h = (h ^ h >> 33) * P2 & M
    h = (h ^ h >> 29) * P3 & M
    return h ^ h >> 32


def mix(z):
    z &= M
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & M
    z = (z ^ z >> 27) * 0x94D049BB133111EB & M
    return z ^ z >> 31


def block(uuid, offset, generation, key):
    """The 4096 bytes that must stand there."""
    head = b"SPURBLK1" + struct.pack("<II", 1, 0) + struct.pack("<5Q", uuid[0], uuid[1], offset, generation, key)
    head += struct.pack("<Q", xxh64(head))
    place = mix(mix(uuid[0]) + mix(uuid[1] ^ STEP) + offset)
    words = [mix(key + (i + 1) * STEP) for i in range(8, 512)]
    for s in range(1, 8):
        words[64 * s - 8] = mix(place + generation * ODD + s * STEP)
    return head + struct.pack("<504Q", *words)


def main():
    with open(sys.argv[1], "rb") as f:
        data = f.read()
    uuid = struct.unpack("<2Q", data[16:32])
    n = 0
    for offset in range(0, len(data), 4096):
        found = data[offset:offset + 4096]
        if len(found) < 64:  # a cut header: magic, version, UUID and offset are known
            known = b"SPURBLK1" + struct.pack("<II3Q", 1, 0, uuid[0], uuid[1], offset)
            good = found[:40] == known[:len(found)]
        else:
            generation, key = struct.unpack("<2Q", found[40:56])
            good = found == block(uuid, offset, generation, key)[:len(found)]
        if not good:
            sys.exit("block at %d is wrong" % offset)
        n += 1
    print(data[16:32].hex(), n)


main()
