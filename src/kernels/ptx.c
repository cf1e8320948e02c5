/* SPDX-License-Identifier: MIT */
/* The PTX text of the device kernels, as it lies in the source tree. */
#include "kernels/kernels.h"
#include "kernels/ptx-file.h"

__asm__(".pushsection .rodata\n"
        ".balign 16\n"
        ".globl kernels_ptx\n"
        ".hidden kernels_ptx\n"
        ".type kernels_ptx, %object\n"
        "kernels_ptx:\n"
        ".incbin \"" KERNELS_PTX_FILE "\"\n"
        ".byte 0\n"
        ".size kernels_ptx, . - kernels_ptx\n"
        ".popsection\n");
