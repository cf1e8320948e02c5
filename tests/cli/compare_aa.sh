#!/bin/sh
# SPDX-License-Identifier: MIT
# An A/A comparison comes out undecided or same; the report says so.
. "$(dirname "$0")/compare_lib.sh"

prepared f 4M
window=100ms
compared 0 "$work/r.db" --file "$work/f" --arm odirect --aa --threads 1,2 --blocks 5
report_holds "$work/r.db" "r['state']['harness_biased'] is False" "sum(c['is_aa'] for c in r['comparisons']) == 2"
says out "A/A"
