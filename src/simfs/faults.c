/* SPDX-License-Identifier: MIT */
#include "simfs/faults.h"

#include <stdlib.h>
#include <string.h>

const char *fault_name(enum fault_kind kind)
{
    static const char *const names[] = {"-", "error", "short", "delay", "hang", "wrong", "truncate", "gone"};

    return names[kind];
}

const char *fault_errno_name(int number)
{
    const char *name = strerrorname_np(number);

    return name ? name : "?";
}

static bool is_one(int64_t wanted, uint64_t value)
{
    return wanted < 0 || (uint64_t)wanted == value;
}

static bool meets(const struct fault *f, enum model_op op, uint64_t file, unsigned server, uint64_t offset,
                  uint64_t bytes)
{
    return is_one(f->op, op) && is_one(f->file, file) && is_one(f->server, server) && offset < f->offset_end &&
           offset + bytes > f->offset_first;
}

/* Every fault counts and draws whatever another one does, so that each has a schedule of its own. */
static bool strikes(struct fault *f)
{
    bool drawn = f->p >= 1 || (double)(model_random(&f->random) >> 11) / 0x1p53 < f->p;

    f->counted++;
    if (!drawn || f->counted < f->n_first || f->counted > f->n_last || f->struck >= f->times)
        return false;
    f->struck++;
    return true;
}

const struct fault *faults_strike(struct faults *f, enum model_op op, uint64_t file, unsigned server, uint64_t offset,
                                  uint64_t bytes)
{
    const struct fault *found = NULL;

    for (size_t i = 0; i < f->n; i++)
        if (meets(&f->items[i], op, file, server, offset, bytes) && strikes(&f->items[i]) && !found)
            found = &f->items[i];
    return found;
}

void faults_free(struct faults *f)
{
    free(f->items);
    *f = (struct faults){NULL};
}
