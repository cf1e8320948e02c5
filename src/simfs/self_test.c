/* SPDX-License-Identifier: MIT */
#include "core/error.h"
#include "simfs/simfs.h"

int simfs_self_test(FILE *out, struct spur_error *e)
{
    return error_spur(e, SPUR_CODE_REFUSED, "simfs", "--self-test is not there yet");
}
