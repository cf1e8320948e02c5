#!/bin/sh
# SPDX-License-Identifier: MIT
# A GPU that is not there: by index out of range (exit 2), or no driver or no GPU at all (exit 3).
. "$(dirname "$0")/run_lib.sh"

prepared f 1M
SPUR_LIBCUDA=$work/none refused 3 "$work/none" --file "$work/f" --memory cuda:0
requires_fake_cuda
FAKE_CUDA_DEVICES=0 refused 3 "the driver shows no GPU" --file "$work/f" --memory cuda:0
export FAKE_CUDA_DEVICES=2
refused 2 "cuda:2" --file "$work/f" --memory cuda:2
trial 0 --file "$work/f" --memory cuda:1 --bytes 1M
holds 'r["effective"]["memory"]["name"] == "cuda:1"' 'r["requested"]["memory"] == "cuda:1"'
