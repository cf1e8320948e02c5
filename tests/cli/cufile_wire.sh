#!/bin/sh
# SPDX-License-Identifier: MIT
# The mechanisms of cuFile's versions are seen on the wire of a simulated mount, whatever is claimed: pieces of a large
# request one by one (1.15), together (1.18.1), one large request at a time (1.18.0); the host path sends all at once.
. "$(dirname "$0")/cufile_lib.sh"
. "$(dirname "$0")/simfs_lib.sh"

# wire THREADS PATH VERSION MORE LESS [HOLDS]: requests of 8 MiB, each piece of which takes 25 ms. There are never more than
# LESS in flight; more than MORE in one of some tries, as a busy machine is late at the window's ends, which are in the mean.
wire() {
    wire_more=$4
    wire_less=$5
    wire_holds=${6:-True}
    for try in 1 2 3 4; do
        trial 0 --file "$mount/data.0" --path "$2" --memory cuda:0 --request 8M --threads "$1" --bytes "$(($1 * 16))M" --verify off \
            ${3:+--set library="$(library "$3")"} --interval 0
        holds "r['served'] == 'simulated' and abs(r['wire']['bytes'] / r['bytes'] - 1) < .01" "$wire_holds" \
            "abs(r['wire']['mean_bytes'] / 2**20 - 1) < .01" "any('simulated mount' in n for n in r['notes'])" \
            "r['wire']['mean_in_flight'] < $wire_less"
        ! (holds "r['wire']['mean_in_flight'] > $wire_more") 2>/dev/null || return 0
    done
    holds "r['wire']['mean_in_flight'] > $wire_more"
}

simfs --size 48M --latency 25ms
export FAKE_CUFILE_ROAD=nvfs
wire 1 cufile 1.15.1.6 .2 1.05 "r['observed'] == 'nvidia-fs'"
wire 3 cufile 1.15.1.6 1.1 3.05
wire 1 cufile 1.18.1.6 1.2 4.05
wire 1 odirect "" 1.2 8.05 # one by one cannot give more than 1
wire 3 cufile 1.18.0.66 0 1.05
FAKE_CUFILE_ROAD=user wire 1 cufile 1.20.0.107 1.2 8.05
unmounted
no_litter
