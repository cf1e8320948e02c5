#!/bin/sh
# SPDX-License-Identifier: MIT
# An error of the storage ends the trial and names file, offset and cause. Exit 1.
. "$(dirname "$0")/run_lib.sh"
requires_strace

prepared f 1M
for path in buffered odirect; do
    injected 1 "$work/f" inject=pread64:error=EIO:when=4 --path $path --request 4K --bytes 1M --threads 1 --memory pageable
    one_line
    says err "$work/f"
    says err "at offset 12288"
    says err "Input/output error"
    holds 'not r["complete"]' 'r["errors"][0]["code"] == 5' 'r["bytes"] == 12288'
    injected 1 "$work/f" inject=pwrite64:error=ENOSPC:when=2 --path $path --op write --request 4K --bytes 1M --threads 1
    one_line
    says err "No space left"
    says err "at offset 4096"
done
