#!/bin/sh
# SPDX-License-Identifier: MIT
# A GPU that is not there: by index out of range (exit 2), or no driver at all.
. "$(dirname "$0")/run_lib.sh"

prepared f 1M
SPUR_LIBCUDA=$work/none refused 1 "$work/none" --file "$work/f" --memory cuda:0
requires_fake_cuda
export FAKE_CUDA_DEVICES=2
refused 2 "cuda:2" --file "$work/f" --memory cuda:2
trial 0 --file "$work/f" --memory cuda:1 --bytes 1M
holds 'r["effective"]["memory"]["name"] == "cuda:1"' 'r["requested"]["memory"] == "cuda:1"'
