#!/bin/sh
# SPDX-License-Identifier: MIT
# What others do through nvidia-fs, whose counters are the machine's, is no proof of a trial's road, and is noted.
. "$(dirname "$0")/cufile_lib.sh"
. "$(dirname "$0")/wire_lib.sh"

prepared f 4M
nvfs=/proc/driver/nvidia-fs/stats
mkdir -p "$work/root/proc/driver/nvidia-fs" "$work/root/sys/module/nvidia_fs/parameters" # the library counts there
echo 1 >"$work/root/sys/module/nvidia_fs/parameters/rw_stats_enabled"
export SPUR_ROOT="$work/root"
# Not there at the begin: not the same as off.
FAKE_CUFILE_ROAD=nvfs cufile 0 1.9.1.3 --set route=any
holds "r['observed'] == 'unknown'" \
    "any(e['source'] == '$nvfs' and e['says'].startswith('at the window\'s begin: nvidia-fs is not loaded') for e in r['evidence'])"
FAKE_CUFILE_ROAD=nvfs cufile 0 1.9.1.3
holds "r['observed'] == 'nvidia-fs' and r['evidence'][0]['strength'] == 'strong'"
# A part of the requests: whose it was is not known.
for library in "1.9.1.3" "1.15.1.6 --set stats=no"; do
    # shellcheck disable=SC2086
    FAKE_CUFILE_ROAD=nvfs=1,posix=3 cufile 0 $library --set route=any
    holds "r['observed'] == 'unknown'" "r['evidence'][0]['source'] == '$nvfs' and 'proves no road' in r['evidence'][0]['says']"
done
WIRE_SLOW=500 wire_machine nvfs 1
used() { # LIBRARY OPTIONS...: in compatibility mode, while others use nvidia-fs a little
    used_library=$(library $1)
    shift
    FAKE_CUFILE_LATENCY_US=2000 trial 0 --file "$work/f" --path cufile --memory cuda:0 --seconds 500ms --warmup 0s \
        --request 256K --threads 2 --set library="$used_library" "$@"
}
used 1.9.1.3 --set route=compat
holds "r['observed'] == 'unknown'"
used 1.15.1.6 --set route=any
holds "r['observed'] == 'compat'" "any('nvidia-fs counters moved' in n and '(compat)' in n for n in r['notes'])"
wire_machine_end
no_litter
