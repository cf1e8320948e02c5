#!/bin/sh
# SPDX-License-Identifier: MIT
# The mechanisms of cuFile's versions are seen on the wire of a simulated mount, whatever is claimed: pieces of a large
# request one by one (1.15), together (1.18.1), one large request at a time (1.18.0); the host path sends all at once.
. "$(dirname "$0")/cufile_lib.sh"
. "$(dirname "$0")/simfs_lib.sh"

# wire THREADS PATH VERSION HOLDS...: requests of 8 MiB, each piece of which takes 25 ms, however busy this machine is.
wire() {
    trial 0 --file "$mount/data.0" --path "$2" --memory cuda:0 --request 8M --threads "$1" --bytes "$(($1 * 16))M" --verify off \
        ${3:+--set library="$(library "$3")"} --interval 0
    holds "r['served'] == 'simulated' and abs(r['wire']['bytes'] / r['bytes'] - 1) < .01" \
        "abs(r['wire']['mean_bytes'] / 2**20 - 1) < .01" "any('simulated mount' in n for n in r['notes'])"
    shift 3
    holds "$@"
}
in_flight="r['wire']['mean_in_flight']"

simfs --size 48M --latency 25ms
export FAKE_CUFILE_ROAD=nvfs
wire 1 cufile 1.15.1.6 "r['observed'] == 'nvidia-fs' and .2 < $in_flight < 1.05"
wire 3 cufile 1.15.1.6 "1.1 < $in_flight < 3.05"
wire 1 cufile 1.18.1.6 "1.2 < $in_flight < 4.05"
wire 1 odirect "" "$in_flight > 1.2" # one by one cannot give more than 1
wire 3 cufile 1.18.0.66 "$in_flight < 1.05"
FAKE_CUFILE_ROAD=user wire 1 cufile 1.20.0.107 "$in_flight > 1.2"
unmounted
no_litter
