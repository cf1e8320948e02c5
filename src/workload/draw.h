/* SPDX-License-Identifier: MIT */
/* Pseudo-random numbers of a workload's thread: xoshiro256** (Blackman and Vigna, 2018), state inline, no division. */
#ifndef SPUR_WORKLOAD_DRAW_H
#define SPUR_WORKLOAD_DRAW_H

#include <stdint.h>

struct draw {
    uint64_t s[4];
};

static inline uint64_t draw_mix(uint64_t z) /* the finaliser of SplitMix64 */
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

/* Streams of different (seed, index) have nothing in common. */
static inline void draw_seed(struct draw *d, uint64_t seed, uint64_t index)
{
    uint64_t state = draw_mix(draw_mix(seed + 0x9e3779b97f4a7c15ull) + (index + 1) * 0xd1342543de82ef95ull);

    for (unsigned i = 0; i < 4; i++)
        d->s[i] = draw_mix(state += 0x9e3779b97f4a7c15ull);
    d->s[0] |= !(d->s[0] | d->s[1] | d->s[2] | d->s[3]); /* all zero would stay zero */
}

static inline uint64_t draw_rotate(uint64_t x, unsigned k)
{
    return (x << k) | (x >> (64 - k));
}

static inline uint64_t draw_next(struct draw *d)
{
    uint64_t *s = d->s, result = draw_rotate(s[1] * 5, 7) * 9, t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = draw_rotate(s[3], 45);
    return result;
}

/* 0 .. n - 1. The shares of two values differ by at most n / 2^64 of themselves. */
static inline uint64_t draw_below(struct draw *d, uint64_t n)
{
    return (uint64_t)(((unsigned __int128)draw_next(d) * n) >> 64);
}

#endif
