#!/bin/sh
# SPDX-License-Identifier: MIT
# GPUs are listed with name, UUID, memory and PCIe address; those of the test suite's driver say that they are simulated.
. "$(dirname "$0")/lib.sh"
requires python3

export SPUR_LIBCUDA="${SPUR_FAKE_CUDA:?names the fake driver}"
expect 0 "$SPUR" list
says out "simulated: the CUDA driver is the test suite's"
grep -qE "^  cuda:N +yes " "$work/out" || fail "cuda:N is not there"
grep -qE "^  cuda:0 +.*\(simulated\).*, [0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.0, NUMA node" "$work/out" || fail "no GPU 0"
says out "GPU-"
expect 0 "$SPUR" list --json
python3 - "$work/out" "$root/docs/list-json.md" <<'PY' || fail "see above"
import json, re, sys

top = json.load(open(sys.argv[1]))
assert top["simulated"] is True
assert next(m for m in top["memories"] if m["name"] == "cuda:N")["simulated"]
assert not next(m for m in top["memories"] if m["name"] == "emulated")["simulated"]
assert top["gpus"] and "gpus" not in top["nulls"]
for i, gpu in enumerate(top["gpus"]):
    assert gpu["index"] == i and gpu["reason"] is None and gpu["simulated"] is True
    assert gpu["name"] and gpu["memory_bytes"] > 0
    assert re.fullmatch(r"(GPU|MIG)-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", gpu["uuid"]), gpu
    assert re.fullmatch(r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.0", gpu["pci_address"]), gpu
    assert gpu["numa_node"] is not None or f"gpus[{i}].numa_node" in top["nulls"]
documented = set(re.findall(r"^\| `gpus\[\]\.([a-z_]+)` \|", open(sys.argv[2]).read(), re.M))
assert set(top["gpus"][0]) == documented, set(top["gpus"][0]) ^ documented
PY
