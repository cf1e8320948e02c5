#!/bin/sh
# SPDX-License-Identifier: MIT
# --compare shows only what differs between two machines.
. "$(dirname "$0")/doctor_lib.sh"

expect 0 "$SPUR" doctor --json --root "$machines/nvme-ext4/root"
cp "$work/out" "$work/good.json"
expect 0 "$SPUR" doctor --compare "$work/good.json" --root "$machines/nvme-ext4/root"
[ "$(cat "$work/out")" = "nothing differs" ] || fail "a machine differs from itself"
expect 4 "$SPUR" doctor --compare "$work/good.json" --root "$machines/nvme-ext4-writeback/root"
says out 'ext4.data: "writeback" | "ordered"'
says out 'nvidia-fs-counters.enabled: false | true'
says_not out 'mount.type'
says_not out 'driver.version'
# A damaged report is not one in which things are missing.
python3 - "$work/good.json" "$work/bad.json" <<'END'
import json, sys
r = json.load(open(sys.argv[1]))
r["files"] = 3
json.dump(r, open(sys.argv[2], "w"))
END
expect 2 "$SPUR" doctor --compare "$work/bad.json" --root "$machines/nvme-ext4/root"
one_line
says err "bad.json: damaged"
