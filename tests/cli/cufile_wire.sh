#!/bin/sh
# SPDX-License-Identifier: MIT
# The mechanisms of cuFile's versions are seen on the wire of a simulated mount, whatever is claimed: pieces of a large
# request one by one (1.15), together (1.18.1), one large request at a time (1.18.0); the host path sends all at once.
. "$(dirname "$0")/cufile_lib.sh"
. "$(dirname "$0")/simfs_lib.sh"

cat >"$work/judge.py" <<'END'
import json, sys
r, log, more, less = json.load(open(sys.argv[1])), open(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4])
rows = [line.split() for line in log if line[0] != "#"]
pieces = sorted((int(x[0]), int(x[0]) + int(x[6])) for x in rows if x[4] == str(1 << 20))
w = r["wire"]
assert len(pieces) >= w["requests"] > 0
pieces = pieces[-w["requests"]:] # a pilot's come before
busy, end = 0, 0
for begun, answered in pieces:
    busy += max(answered, end) - max(begun, end)
    end = max(answered, end)
# In flight while the wire was in use: the mechanism's own, however late a busy machine asks again.
mean = sum(answered - begun for begun, answered in pieces) / busy
service = w["requests"] * w["mean_service_ns"] / 1e9
print("in flight: %.2f while in use, %.2f in all" % (mean, w["mean_in_flight"]))
# simfs takes the time after it has answered: where it was kept from that, the next request had come.
assert more < mean < 1.3 * less, "not between %g and %g" % (more, 1.3 * less)
assert w["mean_in_flight"] < min(1.3 * less, 1.2 * mean)
# What spur says is of its window, whose ends may come late.
assert r["seconds"] - .1 < service / w["mean_in_flight"] < r["seconds"] + 2, (service, r["seconds"])
END
# wire THREADS PATH VERSION MORE LESS [HOLDS]: requests of 8 MiB, each piece of which takes 25 ms: so many in flight.
wire() {
    simfs --size 48M --latency 25ms --log "$work/log"
    trial 0 --file "$mount/data.0" --path "$2" --memory cuda:0 --request 8M --threads "$1" --bytes "$(($1 * 16))M" --verify off \
        ${3:+--set library="$(library "$3")"} --interval 0
    unmounted
    holds "r['served'] == 'simulated' and abs(r['wire']['bytes'] / r['bytes'] - 1) < .01" "${6:-True}" \
        "abs(r['wire']['mean_bytes'] / 2**20 - 1) < .01" "any('simulated mount' in n for n in r['notes'])"
    python3 "$work/judge.py" "$work/r.json" "$work/log" "$4" "$5" || fail "$2 $3, $1 threads"
    rm "$work/log"
}

export FAKE_CUFILE_ROAD=nvfs
wire 1 cufile 1.15.1.6 .95 1.05 "r['observed'] == 'nvidia-fs'"
wire 3 cufile 1.15.1.6 1.5 3.05
wire 1 cufile 1.18.1.6 1.5 4.05
wire 1 odirect "" 1.5 8.05 # one by one cannot give more than 1
wire 3 cufile 1.18.0.66 .95 1.05
FAKE_CUFILE_ROAD=user wire 1 cufile 1.20.0.107 1.5 8.05
no_litter
