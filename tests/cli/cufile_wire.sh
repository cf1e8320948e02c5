#!/bin/sh
# SPDX-License-Identifier: MIT
# The mechanisms of cuFile's versions are seen on the wire of a simulated mount, whatever is claimed: pieces of a large
# request one by one (1.15), together (1.18.1), one large request at a time (1.18.0); the host path sends all at once.
. "$(dirname "$0")/cufile_lib.sh"
. "$(dirname "$0")/simfs_lib.sh"

cat >"$work/judge.py" <<'END'
import json, sys
r, log, config, more, most = json.load(open(sys.argv[1])), open(sys.argv[2]), open(sys.argv[3]), float(sys.argv[4]), int(sys.argv[5])
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
logged = sum(answered - begun for begun, answered in pieces) / 1e9
# No piece is answered before that, so of one more than there may be in flight the last begins after it. (When a busy
# simfs has answered it may be late to look at the clock: the ends in its log say less.)
config = dict(line.split() for line in config if len(line.split()) == 2)
least = int(config["latency_ns"]) - int(config["cost_request_ns"]) - int(config["cost_mib_ns"])
gaps = [pieces[i + most][0] - pieces[i][0] for i in range(len(pieces) - most)]
print("in flight: %.2f while in use, %.2f in all; service %.4f s, logged %.4f s; window %.3f s of %.3f s; %d begin in %.2f ms at least, of %.2f" %
      (mean, w["mean_in_flight"], service, logged, service / w["mean_in_flight"], r["seconds"], most + 1, min(gaps) / 1e6, least / 1e6))
assert least > 15e6, "simfs answers after %d ns" % least
assert gaps and min(gaps) >= least, "more than %d at once" % most
assert mean > more, "not more than %g" % more
# What spur says is what the log says, over its window, whose ends may come late.
assert abs(service / logged - 1) < .01
assert .95 * r["seconds"] < service / w["mean_in_flight"] < r["seconds"] + 2, (service, r["seconds"])
END
# wire THREADS PATH VERSION MORE MOST [HOLDS]: requests of 8 MiB, each piece of which takes 25 ms: so many in flight.
wire() {
    simfs --size 48M --latency 25ms --log "$work/log"
    trial 0 --file "$mount/data.0" --path "$2" --memory cuda:0 --request 8M --threads "$1" --bytes "$(($1 * 16))M" --verify off \
        ${3:+--set library="$(library "$3")"} --interval 0
    cp "$mount/.spur/config" "$work/config"
    unmounted
    holds "r['served'] == 'simulated' and abs(r['wire']['bytes'] / r['bytes'] - 1) < .01" "${6:-True}" \
        "abs(r['wire']['mean_bytes'] / 2**20 - 1) < .01" "any('simulated mount' in n for n in r['notes'])"
    python3 "$work/judge.py" "$work/r.json" "$work/log" "$work/config" "$4" "$5" || fail "$2 $3, $1 threads"
    rm "$work/log"
}

export FAKE_CUFILE_ROAD=nvfs
wire 1 cufile 1.15.1.6 .95 1 "r['observed'] == 'nvidia-fs'"
wire 3 cufile 1.15.1.6 1.5 3
wire 1 cufile 1.18.1.6 1.5 4
wire 1 odirect "" 1.5 8 # one by one cannot give more than 1
wire 3 cufile 1.18.0.66 .95 1
FAKE_CUFILE_ROAD=user wire 1 cufile 1.20.0.107 1.5 8
no_litter
