/* SPDX-License-Identifier: MIT */
/* The version that a module stands for. */
#include "libcufile.h"

const char fake_built_version[] = FAKE_CUFILE_BUILT;
