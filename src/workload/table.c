/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "workload/workload.h"

const struct workload_ops *const workload_table[] = {&sequential_workload, &random_workload, &mix_workload, NULL};

const struct workload_ops *workload_find(const char *name)
{
    for (unsigned i = 0; workload_table[i]; i++)
        if (!strcmp(workload_table[i]->name, name))
            return workload_table[i];
    return NULL;
}
