#!/bin/sh
# SPDX-License-Identifier: MIT
# docs/run-json.md names every key of real results, with its type; what it names without "Only" is in every result.
. "$(dirname "$0")/run_lib.sh"
. "$(dirname "$0")/wire_lib.sh"
requires_fake_cuda
unset SPUR_LIBCUDA

prepared f 8M
head -c 8M /dev/urandom >"$work/foreign"
keys() { # CODE OPTIONS...: one more result to judge
    n_results=$((${n_results:-0} + 1))
    trial "$@" --request 64K --threads 2
    mv "$work/r.json" "$work/keys-$n_results.json"
}
keys 0 --file "$work/f" --seconds 2100ms --warmup 0s --memory emulated
keys 0 --file "$work/f" --path fanout --op mix --depth 4 --bytes 4M --set piece=64K
keys 0 --file "$work/f" --path fanout --set engine=threads --bytes 4M --memory pinned
keys 0 --file "$work/foreign" --path buffered --bytes 4M --verify inline
keys 0 --file "$work/foreign" --path mmap --bytes 4M --verify off
keys 0 --file "$work/f" --path null --seconds 50ms --warmup 0s
SPUR_LIBCUDA=$SPUR_FAKE_CUDA keys 0 --file "$work/f" --seconds 100ms --warmup 0s --memory cuda:0
export FAKE_CUDA_DEVICES=2
SPUR_LIBCUDA=$SPUR_FAKE_CUDA keys 0 --file "$work/f" --seconds 2100ms --warmup 0s --memory cuda:0,1
keys 0 --file "$work/f" --path external --set tool=fio --memory pageable --bytes 4M
for kind in simfs nfs; do # mounts that are simulated by their counters
    wire_machine $kind 8
    cp "$work/f" "$work/mount/f"
    keys 0 --file "$work/mount/f" --path buffered --seconds 400ms --warmup 0s
    wire_machine_end
done
dd if=/dev/zero of="$work/f" bs=4096 seek=5 count=1 conv=notrunc 2>/dev/null
keys 1 --file "$work/f" --bytes 8M
[ "$(ls "$work"/keys-*.json | wc -l)" -eq 12 ] || fail "not the results of 12 trials"

python3 - "$root/docs/run-json.md" "$work"/keys-*.json <<'END' || fail "docs/run-json.md and the results differ"
import fnmatch, json, re, sys

rows = {}
facts = set()
for line in open(sys.argv[1]):
    cells = [c.strip() for c in line.strip().strip("|").split(" | ")]
    name = re.fullmatch(r"`([^`]+)`", cells[0])
    if not name:
        continue
    if cells[1] in ("odirect", "fanout", "odirect, fanout"):
        facts.add(name.group(1))
        continue
    for end in ("begin", "end") if name.group(1).startswith("environment.begin") else ("",):
        key = name.group(1).replace("environment.begin", "environment." + end) if end else name.group(1)
        rows[key] = (cells[1].split(",")[0], (cells[2] if len(cells) > 2 else "").startswith("Only"))

TYPES = {str: "string", bool: "boolean", int: "integer", float: "real", dict: "object", list: "array"}
faults = set()

def find(name):
    if name in rows:
        return name
    return next((r for r in rows if r.endswith(".*") and fnmatch.fnmatchcase(name, r.replace("[", "[[]"))), None)

def walk(value, name, seen):
    """Each key, and each object on the way; an undocumented object is named by its members."""
    row = find(name)
    seen.add(name)
    if row:
        seen.add(row)
        said = rows[row][0]
        if value is not None and not said.startswith(TYPES[type(value)]):
            faults.add("%s is %s, said to be %s" % (name, TYPES[type(value)], said))
    elif not isinstance(value, (dict, list)) or not any(r.startswith((name + ".", name + "[]")) for r in rows):
        if not name.endswith("[]") or not rows.get(name[:-2], ("",))[0].startswith("array of"):
            faults.add("not documented: " + name)
    if isinstance(value, dict) and name != "nulls":
        for k, v in value.items():
            walk(v, name + "." + k if name else k, seen)
        if name == "effective.path_facts":
            faults.update("not documented: path fact " + k for k in value if re.sub("_reason$", "", k) not in facts)
    elif isinstance(value, list):
        for v in value:
            walk(v, name + "[]", seen)
    elif value is None:
        seen.update(r for r in rows if r.startswith(name + ".")) # a null object has no keys

ever = set()
for file in sys.argv[2:]:
    seen = set()
    result = json.load(open(file))
    for key, value in result.items():
        walk(value, key, seen)
    ever |= seen
    for r, (_, only) in rows.items():
        inside = r.rsplit("[]", 1)[0]
        if r not in seen and not only and not ("[]" in r and inside + "[]" not in seen):
            faults.add("not in %s: %s" % (file.rsplit("/", 1)[1], r))
    for fact in result["effective"]["path_facts"]:
        facts and ever.add("fact " + re.sub("_reason$", "", fact))
faults.update("path fact that is never there: " + f for f in facts if "fact " + f not in ever)
for f in sorted(faults):
    print(f, file=sys.stderr)
sys.exit(bool(faults))
END
