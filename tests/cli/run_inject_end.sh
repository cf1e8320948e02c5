#!/bin/sh
# SPDX-License-Identifier: MIT
# A read of nothing before the end of the file is an error with the offset, never a short trial. Exit 1.
. "$(dirname "$0")/run_lib.sh"
requires_strace

prepared f 1M
for path in buffered odirect; do
    injected 1 "$work/f" inject=pread64:retval=0:when=4 --path $path --request 4K --bytes 1M --threads 1 --memory pageable
    one_line
    says err "no progress at offset 12288, before the end of the file"
    holds 'not r["complete"]'
done
