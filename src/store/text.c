/* SPDX-License-Identifier: MIT */
#include "store/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/util.h"

static bool continues(unsigned char c)
{
    return (c & 0xc0) == 0x80;
}

/* Bytes of the character at @s; 0: not UTF-8 (overlong forms, surrogates and what is past U+10FFFF are not). */
static size_t character(const unsigned char *s)
{
    if (s[0] < 0x80)
        return 1;
    if (s[0] >= 0xc2 && s[0] <= 0xdf)
        return continues(s[1]) ? 2 : 0;
    if (s[0] >= 0xe0 && s[0] <= 0xef) {
        bool ok = continues(s[1]) && continues(s[2]) && !(s[0] == 0xe0 && s[1] < 0xa0) &&
                  !(s[0] == 0xed && s[1] > 0x9f);

        return ok ? 3 : 0;
    }
    if (s[0] >= 0xf0 && s[0] <= 0xf4) {
        bool ok = continues(s[1]) && continues(s[2]) && continues(s[3]) && !(s[0] == 0xf0 && s[1] < 0x90) &&
                  !(s[0] == 0xf4 && s[1] > 0x8f);

        return ok ? 4 : 0;
    }
    return 0;
}

bool text_is_utf8(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;

    for (size_t n; *s; s += n)
        if (!(n = character(s)))
            return false;
    return true;
}

json_t *text_to_json(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    _cleanup_free_ char *encoded = NULL;
    char *p;

    if (!text)
        return json_null();
    p = encoded = malloc(strlen(text) * 3 + 1);
    if (!encoded)
        return NULL;
    while (*s) {
        size_t n = *s == '%' ? 0 : character(s);

        if (!n)
            p += sprintf(p, "%%%02X", *s++);
        for (; n; n--)
            *p++ = (char)*s++;
    }
    *p = 0;
    return json_string(encoded);
}

static int hex_digit(char c)
{
    static const char digits[] = "0123456789ABCDEF";
    const char *found = c ? strchr(digits, c) : NULL;

    return found ? (int)(found - digits) : -1;
}

int text_from_json(const json_t *json, char **ret)
{
    const char *s = json_string_value(json);
    char *text, *p;

    if (json_is_null(json)) {
        *ret = NULL;
        return 0;
    }
    if (!s)
        return -EINVAL;
    p = text = malloc(strlen(s) + 1);
    if (!text)
        return -ENOMEM;
    while (*s) {
        int high = *s == '%' ? hex_digit(s[1]) : 0;
        int low = *s == '%' && high >= 0 ? hex_digit(s[2]) : 0;

        if (*s != '%') {
            *p++ = *s++;
            continue;
        }
        if (high < 0 || low < 0 || !(high | low)) {
            free(text);
            return -EINVAL;
        }
        *p++ = (char)(high << 4 | low);
        s += 3;
    }
    *p = 0;
    *ret = text;
    return 0;
}
