/* SPDX-License-Identifier: MIT */
#include "workload/claims.h"

#include <errno.h>
#include <stdlib.h>

int claims_init(struct claims *c, uint64_t n_most)
{
    *c = (struct claims){.bits = 4};
    while (c->bits < 31 && 1ull << c->bits < 4 * n_most)
        c->bits++;
    if (1ull << c->bits < 4 * n_most)
        return -ENOMEM;
    c->slots = calloc((size_t)1 << c->bits, sizeof(*c->slots));
    return c->slots ? 0 : -ENOMEM;
}

void claims_destroy(struct claims *c)
{
    free(c->slots);
    c->slots = NULL;
}
