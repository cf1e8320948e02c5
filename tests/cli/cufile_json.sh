#!/bin/sh
# SPDX-License-Identifier: MIT
# cufile.json and the environment of a trial: keys are merged into the file in force, which is not touched; what the
# library has then is read back, and a setting that it ignored is said.
. "$(dirname "$0")/cufile_lib.sh"

prepared f 4M
cat >"$work/cufile.json" <<'END'
{
    // comments are allowed
    "execution": { "max_io_threads": 2, "parallel_io": true, },
    "properties": { "allow_compat_mode": true } /* also these */
}
END
before=$(fingerprint "$work/cufile.json")
cufile 0 1.18.1.6 --set route=compat --set json="$work/cufile.json" --set json.execution.parallel_io=false
holds "r['effective']['path_facts']['json.execution.parallel_io'] == 'false'" \
    "r['effective']['path_facts']['execution.max_io_threads'] == '2'" \
    "not any(k.startswith('json.') and k.endswith('_reason') for k in r['effective']['path_facts'])"
[ "$(fingerprint "$work/cufile.json")" = "$before" ] || fail "the user's cufile.json was touched"
cufile 0 1.18.1.6 --set route=compat --set json.nowhere.at_all=5
holds "r['effective']['path_facts']['json.nowhere.at_all'] is None"
cufile 1 1.18.1.6 --set route=compat --set json.execution.max_io_threads=100000
says err "-22"
says err "execution.max_io_threads is 100000, allowed are 0 to "
says err "cufile.json"
printf '{\n "execution": {\n  oops\n}}\n' >"$work/bad.json"
cufile 2 1.18.1.6 --set route=compat --set json="$work/bad.json" --set json.execution.parallel_io=false
says err "bad.json:3"
cufile 0 1.18.1.6 --set route=any --set env.FAKE_CUFILE_ROAD=nvfs
holds "r['observed'] == 'nvidia-fs'"
no_litter
