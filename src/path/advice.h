/* SPDX-License-Identifier: MIT */
#ifndef SPUR_PATH_ADVICE_H
#define SPUR_PATH_ADVICE_H

#include "path/path.h"

enum advice { ADVICE_NORMAL, ADVICE_SEQUENTIAL, ADVICE_RANDOM };

#define ADVICE_SETTING                                                                                                 \
    {                                                                                                                  \
        "advice", "word", "normal, sequential, random", "normal", "read-ahead hint given to the kernel for each file"  \
    }

/* The setting `advice`; -EINVAL for any other word. */
int advice_parse(const struct spur_path *p, enum advice *ret_advice, struct spur_error *e);

#endif
