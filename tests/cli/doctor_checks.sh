#!/bin/sh
# SPDX-License-Identifier: MIT
# docs/doctor.md has the table of checks as it is, and each check can be asked for alone.
. "$(dirname "$0")/doctor_lib.sh"

expect 0 "$SPUR" doctor --list-checks
sed -n '/^| check | looks at/,/^$/p' "$root/docs/doctor.md" | grep . >"$work/doc"
cmp -s "$work/out" "$work/doc" || fail "docs/doctor.md: $(diff "$work/doc" "$work/out")"
sed -n 's/^| `\([a-z0-9-]*\)` .*/\1/p' "$work/out" >"$work/names"
[ "$(wc -l <"$work/names")" -ge 45 ] || fail "few checks"
expect 3 "$SPUR" doctor --json --root "$machines/lvm-and-md/root"
holds "set(f['check'] for f in r['findings']) == set(open('$work/names').read().split())" \
    "all(f['why'] and f['where'] and f['found'] for f in r['findings'])" \
    "all(f['remedy'] for f in found('cufile-keys', 'fail') + found('block', 'warn'))"
python3 - "$work/out" "$root/docs/doctor.md" <<'PYTHON' || fail "docs/doctor.md does not have every key"
import json, sys
r, doc = json.load(open(sys.argv[1])), open(sys.argv[2]).read()
keys = set(r) | set(r['files'][0]) | set(r['files'][0]['verdict']) | set(r['findings'][0])
missing = [k for k in keys if f'`{k}`' not in doc and f'`{k}[]' not in doc and f'.{k}' not in doc]
sys.exit('missing: ' + ' '.join(missing) if missing else 0)
PYTHON
while read -r name; do
    "$SPUR" doctor --check "$name" --root "$machines/nvme-ext4/root" >"$work/out" || fail "--check $name"
    [ -z "$(grep -oE '^  [a-z0-9-]+: ' "$work/out" | grep -vx "  $name: ")" ] || fail "--check $name shows others"
    says out "  $name: "
    [ "$name" != mount ] || expect 0 "$SPUR" doctor --json --check "$name" --root "$machines/nvme-ext4/root"
    [ "$name" != mount ] || holds "{f['check'] for f in r['findings']} == {'mount'}"
done <"$work/names"
