#!/bin/sh
# SPDX-License-Identifier: MIT
# What the mount counted goes from the trials into every form of the report; a simulated mount's experiment says so.
. "$(dirname "$0")/run_lib.sh"
. "$(dirname "$0")/wire_lib.sh"

wire_machine simfs 8
prepared mount/f 1M
expect 0 "$SPUR" compare --file "$work/mount/f" --memory pageable --arm a:path=buffered --arm b:path=mmap --request 64K --threads 1 \
    --seconds 250ms --warmup 0s --blocks 2 --results "$work/r.db"
wire_machine_end
expect 0 "$SPUR" report "$work/r.db"
says out "On the wire:"
says out "570 us"
expect 0 "$SPUR" report "$work/r.db" --json "$work/r.json" --csv "$work/r.csv" --markdown "$work/r.md"
holds 'r["state"]["simulated"]' 'all(a["figures"]["wire_mean_bytes"]["center"] - (1 << 20) < 1 and
    a["figures"]["wire_in_flight"]["n"] == 2 for a in r["cells"][0]["arms"])' \
    'all(abs(t["figures"]["wire_in_flight"] - 8.1) < .5 and t["figures"]["wire_retries"] is None for t in r["trials"])'
python3 - "$work/r.csv" <<'END' || fail "the CSV has other figures"
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
assert len(rows) == 4 and all(float(r["wire_service_ns"]) == 570000 and r["wire_retries"] == "" for r in rows)
END
grep -q "^| cell | arm | in flight" "$work/r.md" || fail "no table in markdown"
