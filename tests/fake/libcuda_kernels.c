/* SPDX-License-Identifier: MIT */
/* The kernels of src/kernels/spur.cu on the host: the same device functions, lane after lane. See libcuda.h. */
#include "libcuda.h"

#include <string.h>

enum kernel kernel_named(const char *name)
{
    static const char *const names[KERNEL_COUNT] = {"spur_fill", "spur_check", "spur_digest", "spur_copy"};
    unsigned i = 0;

    while (i < KERNEL_COUNT && strcmp(names[i], name))
        i++;
    return (enum kernel)i;
}

/* ------------------------------------------------------------------------------------------------
 * Arguments
 */

static uint64_t argument(void **arguments, unsigned i)
{
    uint64_t value;

    memcpy(&value, arguments[i], sizeof(value));
    return value;
}

static bool use(struct op *op, unsigned i, uint64_t address, uint64_t bytes, uint8_t **ret)
{
    struct region *r = region_of_device(address, bytes);

    if (!r)
        return false;
    op->uses[i] = r;
    *ret = r->host + (address - r->device);
    return true;
}

CUresult kernel_arguments(enum kernel kernel, void **arguments, struct op *op)
{
    struct launch *l = &op->launch;
    uint8_t *result = NULL;
    bool good = true;

    l->kernel = kernel;
    if (kernel == KERNEL_COPY) {
        memcpy(&l->n, arguments[1], sizeof(l->n));
        l->bytes = l->n * sizeof(struct kernel_copy);
    } else {
        l->bytes = argument(arguments, 1);
    }
    good = use(op, 0, argument(arguments, 0), l->bytes, &l->at);
    if (kernel == KERNEL_FILL)
        memcpy(&l->fill, arguments[2], sizeof(l->fill));
    if (kernel == KERNEL_CHECK)
        memcpy(&l->expect, arguments[2], sizeof(l->expect));
    if (kernel == KERNEL_CHECK || kernel == KERNEL_DIGEST)
        good = good && use(op, 1, argument(arguments, kernel == KERNEL_CHECK ? 3 : 2), sizeof(*l->result), &result);
    l->result = (struct kernel_result *)result;
    return good ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ------------------------------------------------------------------------------------------------
 * Running
 */

static void run_fill(const struct launch *l)
{
    uint64_t n_blocks = (l->bytes + PATTERN_BLOCK - 1) / PATTERN_BLOCK;

    for (uint64_t k = 0; k < n_blocks; k++) {
        uint64_t left = l->bytes - k * PATTERN_BLOCK;
        unsigned n = left < PATTERN_BLOCK ? (unsigned)left : PATTERN_BLOCK;

        for (unsigned lane = 0; lane < KERNEL_WARP; lane++)
            fill_lane(l->at + k * PATTERN_BLOCK, n, &l->fill, k, lane);
    }
}

static void record(struct kernel_result *r, const struct judge *j)
{
    struct pattern_verdict *v = &r->verdict;
    uint64_t offset = j->block_offset + j->byte;

    v->blocks_bad++;
    if (offset >= v->offset)
        return;
    v->offset = offset;
    v->fault = j->fault;
    v->expected = j->expected;
    v->found = j->found;
}

static void check_part(const struct launch *l, uint64_t k)
{
    struct judge_part part = judge_part(l->expect.offset, l->bytes, k);
    unsigned wrong = JUDGE_WORDS;
    struct judge j;

    if (judge_open(&j, l->at + part.skip, &part, &l->expect)) {
        for (unsigned lane = 0; lane < KERNEL_WARP; lane++) {
            unsigned w = judge_lane(&j, lane);

            wrong = w < wrong ? w : wrong;
        }
        if (wrong < JUDGE_WORDS)
            judge_word(&j, wrong);
    }
    if (j.fault)
        record(l->result, &j);
    else if (j.judged)
        l->result->verdict.bytes_ok += part.hi - part.lo;
    else
        l->result->verdict.bytes_unjudged += part.hi - part.lo;
}

/* Backwards: a GPU keeps no order either. */
static void run_check(const struct launch *l)
{
    for (uint64_t k = judge_n_parts(l->expect.offset, l->bytes); k-- > 0;)
        check_part(l, k);
}

static void run_digest(const struct launch *l)
{
    for (uint64_t i = 0; i < (l->bytes + 7) / 8; i++)
        l->result->digest += digest_share(l->at, l->bytes, i);
}

static struct region *borrow(uint64_t address, uint64_t bytes)
{
    struct region *r = region_of_device(address, bytes);

    region_use(r);
    return r;
}

static bool copy_row(const struct kernel_copy *row)
{
    struct region *from, *to;
    bool good;

    fake_lock();
    from = borrow(row->from, row->bytes);
    to = borrow(row->to, row->bytes);
    fake_unlock();
    good = from && to;
    if (good)
        memcpy(to->host + (row->to - to->device), from->host + (row->from - from->device), row->bytes);
    fake_lock();
    region_done(from);
    region_done(to);
    fake_unlock();
    return good;
}

static bool run_copy(const struct launch *l)
{
    bool good = true;

    for (unsigned i = 0; i < l->n; i++)
        good = copy_row((const struct kernel_copy *)l->at + i) && good;
    return good;
}

bool kernel_run(const struct launch *launch)
{
    switch (launch->kernel) {
    case KERNEL_FILL:
        run_fill(launch);
        return true;
    case KERNEL_CHECK:
        run_check(launch);
        return true;
    case KERNEL_DIGEST:
        run_digest(launch);
        return true;
    case KERNEL_COPY:
        return run_copy(launch);
    default:
        return false;
    }
}
