#!/bin/sh
# SPDX-License-Identifier: MIT
# The road is what the library's statistics show, never what was asked for; another one than that is refused.
. "$(dirname "$0")/cufile_lib.sh"

prepared f 4M
# No direct road: refused before a byte is timed, with the library's reason.
for version in $versions; do
    cufile 3 $version
    [ ! -e "$work/r.json" ] || fail "a result of a trial that never began"
    says err "pilot with compatibility mode forbidden failed"
    says err "5001"
    says_not err "nvidia-fs is not loaded" # it was not looked at
    one_line
done
for version in 1.15.1.6 1.18.1.6 1.20.0.107; do
    cufile 0 $version --set route=compat --verify inline
    holds "r['observed'] == 'compat' and r['evidence'][0]['strength'] == 'strong'" "r['verify']['status'] == 'ok'" \
        "r['evidence'][0]['value']['posix'] == r['evidence'][0]['value']['operations'] > 0" \
        "r['effective']['path_facts']['library_version'] == '$version'" "any('simulated' in n for n in r['notes'])"
    sha256=$(sha256sum "$(library $version)" | cut -d' ' -f1)
    holds "r['effective']['path_facts']['library_sha256'] == '$sha256'"
    cufile 0 $version --set route=any
    holds "r['observed'] == 'compat'"
    FAKE_CUFILE_ROAD=nvfs cufile 0 $version
    holds "r['observed'] == 'nvidia-fs' and r['evidence'][0]['strength'] == 'strong'" "r['pilot']['status'] == 'ok'" \
        "r['bytes_per_second'] > 0"
    FAKE_CUFILE_ROAD=p2p cufile 0 $version
    holds "r['observed'] == 'p2pdma'"
    FAKE_CUFILE_ROAD=nvfs=1,posix=1 cufile 0 $version --set route=any
    holds "r['observed'] == 'mixed'" \
        "sum(r['evidence'][0]['value'][k] for k in ('nvidia_fs', 'p2pdma', 'posix')) == r['evidence'][0]['value']['operations']" \
        "r['evidence'][0]['value']['posix'] > 0 and r['evidence'][0]['value']['nvidia_fs'] > 0"
    # Direct was asked for and compat came, or the other way round: no figures.
    FAKE_CUFILE_ROAD=nvfs=1,posix=1 cufile 3 $version
    cufile 0 $version --set route=any --set stats=no
    holds "r['effective']['path_facts']['statistics'] is None"
done
# Before 1.15 the library does not tell: system calls do, where it reads by them; nothing is claimed where nothing tells.
for version in 1.4.0.31 1.9.1.3; do
    cufile 0 $version --set route=compat
    holds "r['observed'] == 'compat' and r['evidence'][0]['strength'] == 'supporting'"
    FAKE_CUFILE_ROAD=nvfs cufile 0 $version
    holds "r['observed'] == 'unknown' and r['evidence'][0]['strength'] == 'none'" "r['pilot']['status'] == 'ok'"
done
refused 2 "cannot reach a GPU that is emulated" --file "$work/f" --path cufile --memory emulated --set route=any \
    --set library="$(library 1.15.1.6)"
no_litter
