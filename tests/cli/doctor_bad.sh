#!/bin/sh
# SPDX-License-Identifier: MIT
# Files that are not there, a half-written cufile.json, recordings and reports of other versions, odd names.
. "$(dirname "$0")/doctor_lib.sh"

expect 3 "$SPUR" doctor --json "$work/none"
holds "verdict()['road'] == 'none' and 'No such file' in verdict()['reason']"
mkfifo "$work/pipe"
expect 3 "$SPUR" doctor "$work/pipe"
says out "neither a file"
odd=$work/$(printf 'a b\n\033\377"c')
echo x >"$odd"
expect 4 "$SPUR" doctor --json "$odd"
holds "'\\\\xff' in r['files'][0]['file'] or 'ff' in r['files'][0]['file']"
expect 4 "$SPUR" doctor "$odd"
! grep -q "$(printf '\033')" "$work/out" || fail "a control character reached the terminal"

true >"$work/e; touch x"
expect 4 "$SPUR" doctor --json "$work/e; touch x" # names in commands are quoted for a shell
holds "found('file', 'note')[0]['remedy'] == \"spur prepare '$work/e; touch x' --size 1G\""
# A kernel or a driver that does not say its version is not one that has P2PDMA, nor one that lacks it.
for name in proc/sys/kernel/osrelease proc/driver/nvidia/version; do
    copy nvme-xfs-p2pdma
    echo "NVRM version: garbage" >"$work/m/$name"
    "$SPUR" doctor --json --root "$work/m" >"$work/out" 2>"$work/err"
    holds "verdict()['road'] != 'p2pdma'" "'cannot be read' in found('p2pdma', 'unknown')[0]['found']" \
        "'proprietary' not in verdict()['reason']"
done
copy nvme-ext4
head -c 400 "$work/m/etc/cufile.json" >"$work/half" && cp "$work/half" "$work/m/etc/cufile.json"
expect 4 "$SPUR" doctor --json --root "$work/m"
holds "verdict()['road'] == 'host only'" "'/etc/cufile.json:' in found('cufile-json', 'fail')[0]['found']"
rm "$work/m/etc/cufile.json"
sed -i 's/"env": {}/"env": {"CUFILE_ENV_PATH_JSON": "\/etc\/gone.json"}/' "$work/m/facts.json"
expect 4 "$SPUR" doctor --json --root "$work/m"
holds "found('cufile-json', 'fail')[0]['where'] == '/etc/gone.json'"

copy nvme-ext4
sed -i 's/spur-recording-1/spur-recording-9/' "$work/m/facts.json"
expect 2 "$SPUR" doctor --root "$work/m"
one_line
says err "spur-recording-9"
echo '{' >"$work/m/facts.json"
expect 2 "$SPUR" doctor --root "$work/m"
one_line
expect 1 sh -c "'$SPUR' doctor --root '$machines/lvm-and-md/root' /mnt/lv/file >/dev/full" # and not 4
# What is malformed is no fact, and nothing that is missing.
spoilt() { # TEXT REASON: facts.json with it
    printf "$1" >"$work/m/facts.json"
    expect 2 "$SPUR" doctor --root "$work/m"
    one_line
    says err "facts.json: $2"
}
start='{"schema": "spur-recording-1"'
spoilt '\0\0\0' "it is no text file"
spoilt '[]' "it is no object with a schema"
spoilt "$start, \"cuda\": [1, 2]}" "cuda is no object"
spoilt "$start, \"devices\": 3}" "devices is no object"
spoilt "$start, \"acs\": {\"0000:15:01.0\": \"x\"}}" "acs.* is no integer"
spoilt "$start, \"files\": [{\"name\": \"/f\", \"bytes\": true}]}" "files[].bytes is no integer"
spoilt "$start, \"files\": [null]}" "files[] is no object"
expect 1 "$SPUR" doctor --root "$work/no-such"
one_line
expect 4 "$SPUR" doctor --json --root "$work" /mnt/x # a folder with nothing of a machine in it
holds "all('no facts.json' in v['reason'] for v in (r['machine'], verdict()))"
copy nvme-ext4
expect 4 "$SPUR" doctor --json --root "$work/m" /mnt/data/other
holds "verdict()['reason'].startswith('nothing was recorded of this file')"
sed -i 's/USAGE=filesystem/USAGE=filesystem_not/' "$work"/m/run/udev/data/b259:1
expect 4 "$SPUR" doctor --json --root "$work/m"
holds "'has no E:ID_FS_USAGE' in found('udev', 'fail')[0]['found']"
expect 2 "$SPUR" doctor --check nvidiafs
says err "nvidia-fs"
echo '{"schema": "spur-doctor-9"}' >"$work/other.json"
expect 2 "$SPUR" doctor --compare "$work/other.json"
says err "spur-doctor-9"
expect 1 "$SPUR" doctor --compare "$work/none.json"
expect 1 "$SPUR" doctor --compare "$work"
one_line
says err "Is a directory"
SPUR_LIBCUFILE=/no/such expect 4 "$SPUR" doctor --json
holds "found('library', 'fail')[0]['where'] == '/no/such'" "'library=' not in found('library', 'fail')[0]['remedy']"
expect 4 "$SPUR" doctor
says out "this machine: "
