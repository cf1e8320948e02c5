#!/bin/sh
# SPDX-License-Identifier: MIT
# The log has every request exactly once, and its sums are those of spur and of the counters.
. "$(dirname "$0")/run_lib.sh"
. "$(dirname "$0")/simfs_lib.sh"

simfs --size 8M --files 2 --servers 3 --rpc 64K --log "$work/log" --latency 1ms
trial 0 --file "$mount/data.0" --file "$mount/data.1" --path odirect --request 64K --threads 4 --bytes 16M --verify off --memory pageable
cp "$mount/.spur/stats" "$work/stats"
unmounted
python3 - "$work/log" "$work/stats" "$work/r.json" <<'END' || fail "the log does not fit"
import collections, json, sys
lines = [l.split() for l in open(sys.argv[1])]
stats = dict(l.split() for l in open(sys.argv[2]))
r = json.load(open(sys.argv[3]))
assert lines[0][0] == "#"
rows = [dict(zip("ns op file offset length server service answer fault".split(), l)) for l in lines[1:]]
assert all(len(l) == 9 for l in lines[1:])
assert len(rows) == int(stats["reads"]), (len(rows), stats)
assert sum(int(x["answer"]) for x in rows) == int(stats["read_bytes"])
assert sum(int(x["service"]) for x in rows) == int(stats["service_ns"])
assert all(int(x["server"]) == int(x["offset"]) // 65536 % 3 and x["fault"] == "-" for x in rows)
timed = [x for x in rows if x["length"] == "65536"]
each = collections.Counter((x["file"], x["offset"]) for x in timed)
want = collections.Counter(("data.%d" % f, str(o)) for f in range(2) for o in range(0, 8 << 20, 65536))
assert r["requests"] == 256 and r["wire"]["requests"] == 256, (r["requests"], r["wire"]["requests"])
assert not want - each, want - each
END
echo precious >"$work/precious"
mkdir "$work/other"
expect 3 "$SPUR" simfs "$work/other" --size 1M --log "$work/precious"
says err "is no log of simfs"
grep -qx precious "$work/precious" || fail "a foreign file was changed"
