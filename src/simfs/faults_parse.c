/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/error.h"
#include "core/units.h"
#include "core/util.h"
#include "simfs/faults.h"

#define WORD 64

struct parser {
    const char *text, *at;
    unsigned n_servers;
    uint64_t n_files;
    struct spur_error *e;
};

static int wrong(const struct parser *p, const char *at, const char *what)
{
    error_spur(p->e, SPUR_CODE_USAGE, "option", "--faults: character %zu ('%.20s'): %s", (size_t)(at - p->text) + 1, at,
               what);
    error_remedy(p->e, "for example error:EIO@n=100;short:4096@offset=1M-2M");
    return -EINVAL;
}

/* The word up to any of @ends, not empty. */
static int take_word(struct parser *p, const char *ends, char *ret_word)
{
    size_t n = strcspn(p->at, ends);

    if (!n || n >= WORD)
        return wrong(p, p->at, n ? "is too long" : "something is missing here");
    memcpy(ret_word, p->at, n);
    ret_word[n] = 0;
    p->at += n;
    return 0;
}

static bool take(struct parser *p, char c)
{
    if (*p->at != c)
        return false;
    p->at++;
    return true;
}

/* ------------------------------------------------------------------------------------------------
 * Values
 */

typedef int (*units_fn)(const char *text, uint64_t *ret, struct spur_error *e);

static int parse_time(const char *text, uint64_t *ret, struct spur_error *e)
{
    return units_parse_time(text, false, ret, e);
}

static int take_value(struct parser *p, const char *ends, units_fn parse, uint64_t *ret)
{
    const char *begin = p->at;
    struct spur_error reason = {0};
    char word[WORD];

    if (take_word(p, ends, word) < 0)
        return -EINVAL;
    return parse(word, ret, &reason) < 0 ? wrong(p, begin, reason.detail) : 0;
}

static int take_errno(struct parser *p, uint64_t *ret)
{
    const char *begin = p->at;
    char word[WORD];

    if (take_word(p, "@;", word) < 0)
        return -EINVAL;
    for (int number = 1; number < 134; number++)
        if (strerrorname_np(number) && !strcmp(strerrorname_np(number), word)) {
            *ret = (uint64_t)number;
            return 0;
        }
    return wrong(p, begin, "is no name of an error such as EIO");
}

/* FIRST, FIRST-LAST or, where @open, FIRST-. */
static int take_range(struct parser *p, units_fn parse, bool open, uint64_t *ret_first, uint64_t *ret_last,
                      bool *ret_pair)
{
    const char *begin = p->at;

    *ret_pair = false;
    if (take_value(p, "-,;", parse, ret_first) < 0)
        return -EINVAL;
    *ret_last = *ret_first;
    if (!take(p, '-'))
        return 0;
    *ret_pair = true;
    *ret_last = UINT64_MAX;
    if (open && (!*p->at || *p->at == ',' || *p->at == ';'))
        return 0;
    if (take_value(p, ",;", parse, ret_last) < 0)
        return -EINVAL;
    return *ret_last < *ret_first ? wrong(p, begin, "the range ends before it begins") : 0;
}

/* ------------------------------------------------------------------------------------------------
 * Conditions
 */

static int when_n(struct parser *p, struct fault *f)
{
    const char *begin = p->at;
    bool pair;

    if (take_range(p, units_parse_count, true, &f->n_first, &f->n_last, &pair) < 0)
        return -EINVAL;
    return f->n_first ? 0 : wrong(p, begin, "requests are counted from 1");
}

static int when_offset(struct parser *p, struct fault *f)
{
    const char *begin = p->at;
    bool pair;

    if (take_range(p, units_parse_bytes, false, &f->offset_first, &f->offset_end, &pair) < 0)
        return -EINVAL;
    if (!pair && f->offset_end < UINT64_MAX)
        f->offset_end++;
    return f->offset_first < f->offset_end ? 0 : wrong(p, begin, "the range is empty");
}

/* Decimal with a point and nothing else: strtod would take more, and look at the locale. */
static int when_p(struct parser *p, struct fault *f)
{
    const char *begin = p->at;
    double scale = 1;
    char word[WORD];
    bool point = false, digit = false;

    if (take_word(p, ",;", word) < 0)
        return -EINVAL;
    f->p = 0;
    for (const char *c = word; *c; c++) {
        if (*c == '.' && !point) {
            point = true;
            continue;
        }
        if (*c < '0' || *c > '9')
            return wrong(p, begin, "is no number from 0 to 1");
        digit = true;
        if (point)
            f->p += (*c - '0') * (scale /= 10);
        else
            f->p = f->p * 10 + (*c - '0');
    }
    return digit && f->p <= 1 ? 0 : wrong(p, begin, "is no number from 0 to 1");
}

static int when_index(struct parser *p, uint64_t n, const char *what, int64_t *ret)
{
    const char *begin = p->at;
    uint64_t value;

    if (take_value(p, ",;", units_parse_count, &value) < 0)
        return -EINVAL;
    if (value >= n)
        return wrong(p, begin, what);
    *ret = (int64_t)value;
    return 0;
}

static int when_op(struct parser *p, struct fault *f)
{
    const char *begin = p->at;
    char word[WORD];

    if (take_word(p, ",;", word) < 0)
        return -EINVAL;
    f->op = !strcmp(word, "read") ? MODEL_READ : !strcmp(word, "write") ? MODEL_WRITE : -1;
    return f->op < 0 ? wrong(p, begin, "is neither read nor write") : 0;
}

static int take_when(struct parser *p, struct fault *f, unsigned *seen)
{
    static const char *const names[] = {"n", "offset", "p", "seed", "server", "file", "op", "times", NULL};
    const char *begin = p->at;
    char word[WORD];
    unsigned i = 0;

    if (take_word(p, "=,;", word) < 0)
        return -EINVAL;
    while (names[i] && strcmp(names[i], word))
        i++;
    if (!names[i])
        return wrong(p, begin, "is none of n, offset, p, seed, server, file, op, times");
    if (*seen & 1u << i)
        return wrong(p, begin, "stands there twice");
    *seen |= 1u << i;
    if (!take(p, '='))
        return wrong(p, p->at, "a = is missing");
    switch (i) {
    case 0:
        return when_n(p, f);
    case 1:
        return when_offset(p, f);
    case 2:
        return when_p(p, f);
    case 3:
        return take_value(p, ",;", units_parse_count, &f->seed);
    case 4:
        return when_index(p, p->n_servers, "there is no such server: they are numbered from 0", &f->server);
    case 5:
        return when_index(p, p->n_files, "there is no such file: they are numbered from 0", &f->file);
    case 6:
        return when_op(p, f);
    default:
        return take_value(p, ",;", units_parse_count, &f->times);
    }
}

/* ------------------------------------------------------------------------------------------------
 * Faults
 */

static int take_kind_value(struct parser *p, struct fault *f)
{
    bool optional = f->kind == FAULT_WRONG || f->kind == FAULT_TRUNCATE;

    f->value = 1;
    f->value_given = take(p, ':');
    if (f->kind == FAULT_HANG)
        return f->value_given ? wrong(p, p->at, "hang takes no value") : 0;
    if (!f->value_given)
        return optional ? 0 : wrong(p, p->at, "a colon and a value are missing");
    switch (f->kind) {
    case FAULT_ERROR:
        return take_errno(p, &f->value);
    case FAULT_DELAY:
    case FAULT_GONE:
        return take_value(p, "@;", parse_time, &f->value);
    case FAULT_WRONG:
        return take_value(p, "@;", units_parse_count, &f->value);
    default:
        return take_value(p, "@;", units_parse_bytes, &f->value);
    }
}

static int take_kind(struct parser *p, struct fault *f)
{
    const char *begin = p->at;
    char word[WORD];

    if (take_word(p, ":@;", word) < 0)
        return -EINVAL;
    for (f->kind = FAULT_ERROR; f->kind < FAULT_N_KINDS; f->kind++)
        if (!strcmp(word, fault_name(f->kind)))
            return take_kind_value(p, f);
    return wrong(p, begin, "is none of error, short, delay, hang, wrong, truncate, gone");
}

static int take_fault(struct parser *p, struct fault *f)
{
    unsigned seen = 0;

    *f = (struct fault){.n_last = UINT64_MAX,
                        .offset_end = UINT64_MAX,
                        .p = 1,
                        .seed = 1,
                        .times = UINT64_MAX,
                        .server = -1,
                        .file = -1,
                        .op = -1};
    if (take_kind(p, f) < 0)
        return -EINVAL;
    if (!take(p, '@'))
        return wrong(p, p->at, "an @ and a condition are missing");
    do {
        if (take_when(p, f, &seen) < 0)
            return -EINVAL;
    } while (take(p, ','));
    f->random = f->seed;
    return *p->at && *p->at != ';' ? wrong(p, p->at, "a comma or a semicolon is missing") : 0;
}

int faults_parse(const char *text, unsigned n_servers, uint64_t n_files, struct faults *ret, struct spur_error *e)
{
    struct parser p = {.text = text, .at = text, .n_servers = n_servers, .n_files = n_files, .e = e};

    *ret = (struct faults){NULL};
    do {
        struct fault *grown = realloc(ret->items, (ret->n + 1) * sizeof(*grown));

        if (grown)
            ret->items = grown;
        if (!grown || take_fault(&p, &grown[ret->n]) < 0) {
            faults_free(ret);
            return grown ? -EINVAL : error_errno(e, ENOMEM, "realloc", "--faults");
        }
        ret->n++;
    } while (take(&p, ';'));
    return 0;
}
