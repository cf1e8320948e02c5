#!/bin/sh
# SPDX-License-Identifier: MIT
# Each interface in each direction, in every version that has it (one of them without "whole"): right bytes, whatever size,
# depth and sharing.
. "$(dirname "$0")/cufile_lib.sh"

prepared f 4M
versions=1.15.1.6
[ "${1:-}" != whole ] || versions="1.9.1.3 1.15.1.6 1.20.0.107"
for version in $versions; do
    for path in cufile cufile-batch cufile-async; do
        depth=1
        [ $path = cufile ] || depth=4
        for op in read randread write randwrite mix; do
            cufile 0 $version --set route=compat --op $op --depth $depth --verify inline
            holds "r['verify']['status'] == 'ok' and r['bytes'] == 4 << 20"
        done
        cufile 0 $version --set route=compat --share both --depth $depth --verify inline
        cufile 0 $version --set route=compat --set register=no --depth $depth --verify inline
        trial 0 --file "$work/f" --path $path --memory cuda:0 --set library="$(library $version)" --set route=compat \
            --request 100001 --bytes 4M --threads 3 --verify inline
        holds "r['verify']['status'] == 'ok' and r['bytes'] == 4 << 20"
    done
done
path=cufile-batch cufile 0 1.15.1.6 --set route=compat --depth 8
path=cufile-batch cufile 0 1.15.1.6 --set route=compat --depth 8 # again: now it is cached
served="r['served'] == 'cache' and any(n.startswith('fault') for n in r['notes'])" # as the real 1.15 was seen to do
[ "$(stat -c %Hd "$work/f")" -ne 0 ] || served="r['served'] is None and 'device' in r['nulls']" # no disk to count: overlay, tmpfs
holds "$served"
path=cufile-async cufile 3 1.4.0.31 --set route=compat # the road asked for is not there
says err "no stream interface"
FAKE_CUFILE_ROAD=nvfs path=cufile-async cufile 3 1.4.0.31
says err "no stream interface"
says_not err "spur doctor"
path=cufile cufile 2 1.15.1.6 --set route=compat --depth 2
path=cufile-async cufile 2 1.15.1.6 --set route=compat --set streams=0
path=cufile cufile 2 1.15.1.6 --set route=best
says err "direct, any, compat"
trial 0 --file "$work/f" --path cufile --memory pinned --set library="$(library 1.15.1.6)" --set route=compat --bytes 4M
holds "r['verify']['status'] == 'ok' and r['observed'] == 'compat'"
no_litter
