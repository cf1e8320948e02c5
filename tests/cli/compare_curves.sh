#!/bin/sh
# SPDX-License-Identifier: MIT
# The published crossover on a small scale: one thread of cuFile 1.15 keeps one piece of a request on the wire, the host path
# all of them; many threads of it pass the host path, whose copies have a ceiling. The report names place and cause itself.
. "$(dirname "$0")/cufile_lib.sh"
. "$(dirname "$0")/simfs_lib.sh"

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

# Nothing is named where figures do not fit together, which others' load on this machine may do to a short window.
tells_both() {
    grep -q "gds overtakes odirect between 1 and 12 threads" "$work/line" &&
        grep -q "concurrency (confidence [a-z]*): at 1 thread: odirect kept" "$work/line"
}
tries=0
until report_of_both && tells_both; do
    tries=$((tries + 1))
    [ $tries -lt 3 ] || fail "three reports do not name crossover and cause: $(cat "$work/line")"
done
unmounted
holds 'r["state"]["simulated"]' '[c["faster"] for c in r["causes"] if c["kind"] == "concurrency" and c["cells"] == [0]] == ["odirect"]'
for page in r.txt r.html r.md; do
    grep -qi "simulated: what answered was a model" "$work/$page" || fail "$page does not say that it is simulated"
done
grep -q "<title>.*Simulated: gds against odirect" "$work/r.html" || fail "the page's title does not say it"
no_litter
