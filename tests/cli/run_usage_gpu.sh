#!/bin/sh
# SPDX-License-Identifier: MIT
# A GPU that is not there, of that number or at all, or no driver: exit 3.
. "$(dirname "$0")/run_lib.sh"

prepared f 1M
SPUR_LIBCUDA=$work/none refused 3 "$work/none" --file "$work/f" --memory cuda:0
requires_fake_cuda
FAKE_CUDA_DEVICES=0 refused 3 "the driver shows no GPU" --file "$work/f" --memory cuda:0
export FAKE_CUDA_DEVICES=2
refused 3 "cuda:2" --file "$work/f" --memory cuda:2
trial 0 --file "$work/f" --memory cuda:1 --bytes 1M
holds 'r["effective"]["memory"]["name"] == "cuda:1"' 'r["requested"]["memory"] == "cuda:1"'
