#!/bin/sh
# SPDX-License-Identifier: MIT
# What is counted is what the kernel was asked for: --bytes N moves N bytes, no more and no less.
. "$(dirname "$0")/run_lib.sh"
requires_strace

prepared f 4M
asked() { # sum of what pread64 returned on descriptors of the file, but for the look at its header
    grep -o '= [0-9]*$' "$work/log" | awk '{ sum += $2 } END { print sum - 64 }'
}
for path in buffered odirect; do
    for bytes in 4096 28672 4194304; do
        rm -f "$work/r.json"
        expect 0 traced "$work/log" -qq -P "$work/f" -e trace=pread64 -- "$SPUR" run --quiet --json "$work/r.json" \
            --file "$work/f" --path $path --request 4K --bytes $bytes --threads 3 --verify off --memory pageable
        holds "r['bytes'] == $bytes" "r['requests'] == $bytes / 4096"
        [ "$(asked)" -eq $bytes ] || fail "$path: $(asked) bytes were read, $bytes counted"
    done
done
rm -f "$work/r.json"
expect 0 traced "$work/log" -qq -P "$work/f" -e trace=pread64 -- "$SPUR" run --quiet --json "$work/r.json" \
    --file "$work/f" --path buffered --request 4K --bytes 12345 --threads 2 --verify off
holds "r['bytes'] == 12345" "r['requests'] == 4"
[ "$(asked)" -eq 12345 ] || fail "$(asked) bytes were read"
