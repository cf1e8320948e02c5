#!/bin/sh
# SPDX-License-Identifier: MIT
# --region rotate: in each block every arm has another part, all of one size, and over blocks each arm has each part.
. "$(dirname "$0")/compare_lib.sh"

prepared f 6M
compared 0 "$work/r.db" --file "$work/f" --arm odirect --arm fanout --arm buffered --blocks 6 --region rotate
sql "$work/r.db" "select p.block || ' ' || p.arm || ' ' || json_extract(r.json, '\$.requested.offset') || ' ' ||
    json_extract(r.json, '\$.requested.range') from plan p join results r using (row)" >"$work/parts"
python3 - "$work/parts" <<'END' || fail "the parts are not as they must be"
import sys
rows = [tuple(map(int, l.split())) for l in open(sys.argv[1])]
assert len(rows) == 18
assert {r[3] for r in rows} == {2 << 20} and {r[2] for r in rows} == {0, 2 << 20, 4 << 20}, rows
for block in range(6):
    assert len({r[2] for r in rows if r[0] == block}) == 3, block
for arm in range(3):
    for offset in (0, 2 << 20, 4 << 20):
        assert sum(r[1] == arm and r[2] == offset for r in rows) == 2, (arm, offset)
END
compared 0 "$work/s.db" --file "$work/f" --arm odirect --arm fanout --blocks 1
[ "$(sql "$work/s.db" "select count(distinct json_extract(json, '\$.requested.offset')) from results")" -eq 1 ] ||
    fail "the arms of --region same read different parts"
