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
says err "in the trial's cufile.json"
printf '{\n "execution": {\n  oops\n}}\n' >"$work/bad.json"
cufile 2 1.18.1.6 --set route=compat --set json="$work/bad.json" --set json.execution.parallel_io=false
says err "bad.json:3"
cufile 2 1.18.1.6 --set route=compat --set json.execution=3 # would take the place of the whole section
says err "json.execution is a section"
# Damaged, or a value out of range, in the user's own file: file, line, and the check of doctor that looks at that file.
mkdir "$work/a b"
printf '{\n "execution": {\n "max_io_threads": 100000 }}\n' >"$work/a b/wide.json"
for route in compat direct; do
    cufile 1 1.18.1.6 --set route=$route --set json="$work/bad.json"
    says err "-22"
    says err "$work/bad.json:3: "
    says err "CUFILE_ENV_PATH_JSON=$work/bad.json spur doctor --check cufile-json $work/f says more"
    says_not err "out of its range"
    cufile 1 1.18.1.6 --set route=$route --set json="$work/a b/wide.json"
    says err "in $work/a b/wide.json:3 execution.max_io_threads is 100000, allowed are 0 to "
done
sed -n "s/.*; \(CUFILE_ENV_PATH_JSON=.*\) says more.*/\1/; s/ spur / \"\$SPUR\" /p" "$work/err" >"$work/doctor.sh" # as a user would paste it
expect 4 env SPUR="$SPUR" sh "$work/doctor.sh"
says out "cufile-keys: $work/a b/wide.json:3: "
cufile 1 1.18.1.6 --set route=compat --set env.CUFILE_ENV_PATH_JSON="$work/a b/wide.json"
says err "CUFILE_ENV_PATH_JSON='$work/a b/wide.json' spur doctor --check cufile-keys $work/f says more"
cufile 0 1.18.1.6 --set route=compat --set json="$work/cufile.json" --set env.CUFILE_ENV_PATH_JSON="$work/bad.json"
# One that cannot be read is refused before the trial: the library would go on without it, and say nothing.
for file in none "a b"; do
    cufile 3 1.18.1.6 --set route=compat --set json="$work/$file"
    one_line
    says err "$work/$file: "
    says err "no cufile.json that a library can read"
    cufile 3 1.18.1.6 --set route=compat --set json="$work/$file" --set json.execution.parallel_io=false
    CUFILE_ENV_PATH_JSON="$work/$file" cufile 3 1.18.1.6 --set route=compat
    [ ! -e "$work/r.json" ] || fail "a result of a trial that never began"
done
cufile 0 1.18.1.6 --set route=any --set env.FAKE_CUFILE_ROAD=nvfs
holds "r['observed'] == 'nvidia-fs'"
no_litter
