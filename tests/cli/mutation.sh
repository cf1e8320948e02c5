#!/bin/sh
# SPDX-License-Identifier: MIT
# mutation.sh MUTATION MEMORY...: damage done to timed bytes is seen, on every path; without damage the same program
# passes. SPUR_MUTANT names the program that can do it.
. "$(dirname "$0")/run_lib.sh"

[ -n "${SPUR_MUTANT:-}" ] || skip "SPUR_MUTANT does not name the program with mutations"
SPUR=$SPUR_MUTANT
mutation=$1
shift
op=read
[ "$mutation" != stale ] || op=write
for memory in "$@"; do
    [ "${memory#cuda}" = "$memory" ] || requires_fake_cuda
    for path in buffered mmap odirect fanout; do
        unset SPUR_MUTATE
        prepared f 1M
        trial 0 --file "$work/f" --path $path --memory "$memory" --op $op --request 16K --bytes 1M --threads 2
        holds 'r["verify"]["status"] == "ok"'
        export SPUR_MUTATE="$mutation"
        for mode in inline sample; do
            trial 1 --file "$work/f" --path $path --memory "$memory" --op $op --request 16K --bytes 1M --threads 2 \
                --verify $mode
            holds 'r["verify"]["status"] == "failed"' 'r["verify"]["blocks_bad"] > 0' \
                'r["errors"][0]["source"] == "spur" and r["errors"][0]["code"] == 3'
            grep -qE "$work/f: offset [0-9]+: expected 0x[0-9a-f]{16}, found 0x[0-9a-f]{16}" "$work/err" ||
                fail "file, offset, expected and found are not named"
            [ "$mutation" != stale ] || says err "or a write was lost"
        done
    done
done
