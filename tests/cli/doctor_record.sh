#!/bin/sh
# SPDX-License-Identifier: MIT
# A record gives the same findings as the machine, tells no names, holds no data of files, and overwrites nothing.
. "$(dirname "$0")/doctor_lib.sh"

mkdir -p "$work/secretproject/alice"
file=$work/secretproject/alice/crown-jewels$(printf '\377')rubies
echo "the data of the file" >"$file"
expect 4 "$SPUR" doctor --json --no-probe "$file"
cp "$work/out" "$work/live.json"
expect 4 "$SPUR" doctor --json --no-probe --record "$work/rec" "$file"
! grep -rE 'secretproject|alice|crown|rubies|the data of' "$work/rec" || fail "a name or data is in the record"
[ -z "$(find "$work/rec" -name '*crown*' -o -name '*alice*')" ] || fail "a name is in a path"
host=$(hostname 2>/dev/null || echo)
[ ${#host} -lt 5 ] || ! grep -rwF "$host" "$work/rec" || fail "the host's name is in the record"
expect 4 "$SPUR" doctor --json --root "$work/rec"
python3 - "$work/live.json" "$work/out" <<'PYTHON' || fail "the record says something else"
import json, sys
def of(name): return [(f['check'], f['severity']) for f in json.load(open(name))['findings']]
live, recorded = of(sys.argv[1]), of(sys.argv[2])
print([x for x in live if x not in recorded], [x for x in recorded if x not in live])
sys.exit(live != recorded)
PYTHON
mkdir "$work/r6" # short names, and names without a folder
echo x >"$work/r6/jewels"
(cd "$work/r6" && "$SPUR" doctor --no-probe --record "$work/short" jewels >/dev/null) || [ $? -eq 4 ]
! grep -rE 'jewels|/r6/|/r6"' "$work/short" || fail "a name is in the record"
expect 2 "$SPUR" doctor --record "$work/rec" "$file"
one_line
says err "not empty"
if mount -t tmpfs -o size=64k none "$work/r6" 2>/dev/null; then # half a record is none
    mkdir "$work/r6/rec"
    code=0
    "$SPUR" doctor --no-probe --record "$work/r6/rec" "$file" >"$work/out" 2>"$work/err" || code=$?
    left=$(find "$work/r6" -mindepth 1)
    umount "$work/r6"
    [ "$code" -eq 1 ] && [ "$left" = "$work/r6/rec" ] || fail "exit code $code on a full disk, left behind: $left"
fi
mkdir "$work/empty"
expect 4 "$SPUR" doctor --no-probe --record "$work/empty" "$file"
