#!/bin/sh
# SPDX-License-Identifier: MIT
# The published crossover on a small scale: one thread of cuFile 1.15 keeps one piece of a request on the wire, the host path
# all of them; many threads of it pass the host path, whose copies have a ceiling. The report names place and cause itself.
. "$(dirname "$0")/cufile_lib.sh"
. "$(dirname "$0")/simfs_lib.sh"
requires sqlite3

# At 1 thread 4 MiB / (10 + 10 ms) against 4 MiB / 40 ms; at 12, the 400 MiB/s of copies against 12 of 100 MiB/s.
simfs --size 48M --latency 10ms
report_of_both() {
    rm -f "$work/r.db" "$work/r.db.lock"
    FAKE_CUFILE_ROAD=nvfs FAKE_CUDA_RATE_MIB=400 expect 0 "$SPUR" compare --results "$work/r.db" --file "$mount/data.0" \
        --memory cuda:0 --request 4M --threads 1,12 --arm odirect --arm gds:path=cufile,library="$(library 1.15.1.6)" --blocks 5 \
        --seconds 700ms --warmup 80ms --verify off --interval 0 --html "$work/r.html"
    cp "$work/out" "$work/r.txt"
    expect 0 "$SPUR" report "$work/r.db" --json "$work/r.json" --markdown "$work/r.md"
    tr -s '\n ' '  ' <"$work/r.txt" >"$work/line"
}

tells_both() {
    grep -q "gds overtakes odirect between 1 and 12 threads" "$work/line" &&
        grep -q "concurrency (confidence [a-z]*): at 1 thread: odirect kept" "$work/line"
}

# Whether its figures, which others' load on this machine may spoil, are what the model and the rules for naming ask for.
could_tell() {
    disagree=$(sqlite3 "$work/r.db" "select count(*) from results r join plan p using (row) where p.cell = 0 and
        json_extract(r.json, '\$.wire.sampled.agrees') = 0") || fail "no results"
    python3 - "$work/r.json" "$disagree" <<'END'
import json, math, sys
r = json.load(open(sys.argv[1]))
verdicts = [c["metrics"]["bytes_per_second"]["verdict"] for c in r["comparisons"]]
host, gds = [a["figures"] for a in r["cells"][0]["arms"]]
def fits(f):
    little = f["wire_in_flight"]["center"] * f["wire_mean_bytes"]["center"] * 1e9 / f["wire_service_ns"]["center"]
    return f["wire_in_flight"]["n"] >= 5 and abs(math.log(little / f["bytes_per_second"]["center"])) < math.log(1.2)
def ratio(key):
    return host[key]["center"] / gds[key]["center"]
sys.exit(not (verdicts == ["worse", "better"] and fits(host) and fits(gds) and sys.argv[2] == "0" and
    host["wire_in_flight"]["low"] > gds["wire_in_flight"]["high"] and .85 < ratio("wire_mean_bytes") < 1.18 and
    math.log(ratio("wire_in_flight")) > .8 * math.log(ratio("bytes_per_second")) and
    gds["process_user_cpus"]["center"] + gds["process_system_cpus"]["center"] < .4))
END
}

# A report that could tell and does not is wrong at once; one that could not is made again, some times.
tries=1
until report_of_both && tells_both; do
    ! could_tell || fail "the report does not name crossover and cause: $(cat "$work/line")"
    tries=$((tries + 1))
    [ $tries -le 8 ] || fail "eight reports have no figures to tell by: $(cat "$work/line")"
done
unmounted
holds 'r["state"]["simulated"]' '[c["faster"] for c in r["causes"] if c["kind"] == "concurrency" and c["cells"] == [0]] == ["odirect"]'
for page in r.txt r.html r.md; do
    grep -qi "simulated: what answered was a model" "$work/$page" || fail "$page does not say that it is simulated"
done
grep -q "<title>.*Simulated: gds against odirect" "$work/r.html" || fail "the page's title does not say it"
no_litter
