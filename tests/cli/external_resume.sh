#!/bin/sh
# SPDX-License-Identifier: MIT
# --resume refuses where another program stands under the name that program= gave.
. "$(dirname "$0")/compare_lib.sh"
. "$(dirname "$0")/external_lib.sh"

prepared f 1M
stand_in
expect 0 "$SPUR" compare --results "$work/r.db" --file "$work/f" --memory pageable --request 64K --seconds 1 --warmup 0s \
    --verify-limit 20ms --blocks 2 --limit 1ms --arm g:path=external,tool=gdsio,program="$work/gdsio" --arm odirect
cp -p "$work/gdsio" "$work/kept"
echo : >>"$work/gdsio"
expect 3 "$SPUR" compare --resume "$work/r.db" --allow-code
one_line
says err "what is in program=$work/gdsio changed since this experiment began"
cp -p "$work/kept" "$work/gdsio"
expect 0 "$SPUR" compare --resume "$work/r.db" --allow-code --limit 1ms
