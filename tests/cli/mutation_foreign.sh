#!/bin/sh
# SPDX-License-Identifier: MIT
# Damage to bytes of a foreign file is seen against independent reads.
. "$(dirname "$0")/run_lib.sh"

[ -n "${SPUR_MUTANT:-}" ] || skip "SPUR_MUTANT does not name the program with mutations"
SPUR=$SPUR_MUTANT
head -c 1M /dev/urandom >"$work/f"
for mutation in flip swap tear short; do
    for path in buffered odirect fanout; do
        for mode in inline sample; do
            unset SPUR_MUTATE
            trial 0 --file "$work/f" --path $path --op randread --request 16K --bytes 1M --threads 2 --verify $mode
            holds 'r["verify"]["status"] == "ok"'
            export SPUR_MUTATE=$mutation
            trial 1 --file "$work/f" --path $path --op randread --request 16K --bytes 1M --threads 2 --verify $mode
            holds 'r["verify"]["status"] == "failed"'
            says err "$work/f: offset "
            says err "expected digest"
        done
    done
done
