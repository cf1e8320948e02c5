/* SPDX-License-Identifier: MIT */
#include "core/utf8.h"

#include <stdbool.h>
#include <stdint.h>

/* Smallest code point of each length: shorter forms are not UTF-8. */
static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};

static size_t length_of_lead(unsigned char c)
{
    if (c < 0x80)
        return 1;
    if (c >= 0xc2 && c < 0xe0)
        return 2;
    if (c >= 0xe0 && c < 0xf0)
        return 3;
    return c >= 0xf0 && c < 0xf5 ? 4 : 0;
}

static bool turns_or_breaks(uint32_t c)
{
    return c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) ||
           c == 0xfeff;
}

static bool is_printable(uint32_t c)
{
    if (c < 0x20 || (c >= 0x7f && c < 0xa0) || turns_or_breaks(c))
        return false;
    if (c >= 0xd800 && c < 0xe000)
        return false;
    return c <= 0x10ffff && (c & 0xfffe) != 0xfffe && !(c >= 0xfdd0 && c <= 0xfdef);
}

size_t utf8_printable(const char *s)
{
    const unsigned char *u = (const unsigned char *)s;
    size_t n = length_of_lead(*u);
    uint32_t c;

    if (n < 2)
        return n && is_printable(*u) ? 1 : 0;
    c = *u & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((u[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (u[i] & 0x3fu);
    }
    return c >= smallest[n] && is_printable(c) ? n : 0;
}
