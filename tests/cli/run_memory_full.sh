#!/bin/sh
# SPDX-License-Identifier: MIT
# Buffers that do not fit into memory: said before they are touched. Exit 1.
. "$(dirname "$0")/run_lib.sh"

prepared f 64M
for memory in pageable emulated; do
    refused 1 "bytes of memory available" --file "$work/f" --path fanout --memory $memory --request 64M --threads 1024 \
        --depth 1024
    says err "Cannot allocate memory"
done
