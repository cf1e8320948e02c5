#!/bin/sh
# SPDX-License-Identifier: MIT
# How a file that is not in spur's format is verified is said in the text of run, compare and report; of one that is, nothing.
. "$(dirname "$0")/compare_lib.sh"

head -c 1M /dev/urandom >"$work/foreign"
prepared f 1M
for file in foreign f; do
    said=says_not
    [ $file = f ] || said=says
    expect 0 "$SPUR" run --file "$work/$file" --path buffered --memory pageable --request 64K --threads 1 --bytes 1M --json "$work/r.json"
    $said out "1 of 1 files are not in spur's format: what was read was compared with buffered reads"
    compared 0 "$work/r.db" --file "$work/$file" --arm buffered --arm mmap --blocks 1
    $said out "- Files were not in spur's format: what was read was verified against buffered reads"
    expect 0 "$SPUR" report "$work/r.db"
    $said out "- Files were not in spur's format"
    holds "r['verify']['against'] == '$([ $file = f ] && echo pattern || echo buffered reads)'"
done
expect 0 "$SPUR" run --file "$work/foreign" --path buffered --memory pageable --request 64K --threads 1 --bytes 1M --verify off
says_not out "spur's format"
