#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes spur.ptx from spur.cu: make-ptx.sh [OUTPUT]. Needs nvcc 13.0, so that the result can be compared byte for byte.
#
# The kernels use nothing newer than PTX 7.0 and sm_70; saying so lets drivers since 450 (CUDA 11.0) and a V100 compile
# the text. ptxas then proves that the text keeps to it.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/spur.ptx}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

nvcc -ptx -arch=compute_75 -O3 -I "$here/.." -o "$work/raw.ptx" "$here/spur.cu"
{
    echo '// SPDX-License-Identifier: MIT'
    echo '// Made from spur.cu by make-ptx.sh; do not edit.'
    sed -e '/^\/\//d' -e 's/^\.version .*/.version 7.0/' -e 's/^\.target .*/.target sm_70/' "$work/raw.ptx" | cat -s
} > "$work/spur.ptx"
ptxas -arch=sm_75 -o "$work/spur.cubin" "$work/spur.ptx"
mv "$work/spur.ptx" "$out"
