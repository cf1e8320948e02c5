#!/bin/sh
# SPDX-License-Identifier: MIT
# The JSON has the documented keys and no others, says why nulls are null, and agrees with the text.
. "$(dirname "$0")/lib.sh"
requires python3

SPUR_LIBCUDA=$(printf "/no/such/caf\377.so") # not UTF-8: the JSON must be valid all the same
export SPUR_LIBCUDA
expect 0 "$SPUR" list
cp "$work/out" "$work/text"
expect 0 "$SPUR" list --json
python3 - "$work/out" "$work/text" "$root/docs/list-json.md" <<'PY' || fail "see above"
import json, re, sys

def no_constant(word):
    raise ValueError(word)

top = json.load(open(sys.argv[1], encoding="utf-8"), parse_constant=no_constant)
text = open(sys.argv[2], encoding="utf-8", errors="replace").read()
documented = set(re.findall(r"^\| `([a-z_\[\].]+)` \|", open(sys.argv[3]).read(), re.M))
seen = set()

def walk(value, name):
    if isinstance(value, dict) and name != "nulls":
        for key, inner in value.items():
            walk(inner, f"{name}.{key}" if name else key)
    elif isinstance(value, list):
        seen.add(name)
        for inner in value:
            walk(inner, name + "[]")
    else:
        seen.add(name)

walk(top, "")
seen = {re.sub(r"\[\]$", "", name) for name in seen}
assert seen <= documented, f"not documented: {seen - documented}"
missing = {d for d in documented - seen if not d.startswith("gpus[]")}
assert not missing, f"documented but not there: {missing}"
assert top["schema"] == "spur-list-1"
for kind in "paths", "memories":
    for row in top[kind]:
        assert row["available"] == (row["reason"] is None), row
        assert re.search(rf"^  {re.escape(row['name'])} +{'yes' if row['available'] else 'no'} ", text, re.M), row
cuda = next(m for m in top["memories"] if m["name"] == "cuda:N")
assert not cuda["available"] and r"caf\xff" in cuda["reason"], cuda
assert top["gpus"] == [] and top["nulls"]["gpus"] == cuda["reason"]
assert next(m for m in top["memories"] if m["name"] == "emulated")["emulated"]
assert (top["memlock_limit_bytes"] is None) == ("memlock_limit_bytes" in top["nulls"])
assert (top["io_uring"]["disabled_sysctl"] is None) == ("io_uring.disabled_sysctl" in top["nulls"])
PY
