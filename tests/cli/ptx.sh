#!/bin/sh
# SPDX-License-Identifier: MIT
# The PTX in the source tree is what its source gives. Only nvcc 13.0 gives it byte for byte.
set -eu
kernels=$(cd "$(dirname "$0")/../../src/kernels" && pwd)
PATH=$PATH:/usr/local/cuda/bin

command -v nvcc > /dev/null || { echo "skipped: nvcc is not installed"; exit 77; }
nvcc --version | grep -q 'release 13\.0,' || { echo "skipped: $(nvcc --version | grep release), not 13.0"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$kernels/make-ptx.sh" "$work/spur.ptx"
cmp "$kernels/spur.ptx" "$work/spur.ptx" || { echo "src/kernels/spur.ptx is stale: run src/kernels/make-ptx.sh"; exit 1; }
