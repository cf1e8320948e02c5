#!/bin/sh
# SPDX-License-Identifier: MIT
# The forms cannot disagree: ratios recomputed from the CSV are the JSON's, and the text and Markdown print them.
. "$(dirname "$0")/report_lib.sh"

results r.db --arms 3 --cells 4 --blocks 7 --ratio 1.4:0.7,1 --aa
expect 0 "$SPUR" report "$work/r.db" --text --json "$work/r.json" --csv "$work/r.csv" --markdown "$work/r.md"
python3 - "$work" <<'END' || fail "the forms differ"
import csv, json, math, sys
def never(word):
    sys.exit("no strict JSON: " + word)
work = sys.argv[1]
r = json.load(open(work + "/r.json", encoding="ascii"), parse_constant=never)
trials = list(csv.DictReader(open(work + "/r.csv", newline="")))
assert len(trials) == len(r["trials"]) == 4 * 4 * 7
base = next(a["name"] for a in r["plan"]["arms"] if a["is_baseline"])
rates = {(t["block"], t["cell"], t["arm"]): float(t["bytes_per_second"]) for t in trials}
text = [line for line in open(work + "/out")]
for c in r["comparisons"]:
    logs = [math.log(rates[str(b), str(c["cell"]), c["arm"]] / rates[str(b), str(c["cell"]), base]) for b in range(7)]
    ratio = math.exp(sum(logs) / len(logs))
    e = c["metrics"]["bytes_per_second"]
    assert abs(e["ratio"] / ratio - 1) < 1e-9, (c["arm"], ratio, e["ratio"])
    assert e["n"] == 7 and (e["low"] < 1 < e["high"] or e["verdict"] in ("better", "worse", "same"))
    label = r["cells"][c["cell"]]["label"]
    # Three columns of the table of rates, which comes first.
    line = next(l for l in text if l.startswith(label + " ") and " " + c["arm"] + "  " in l)
    assert " %.2fx  [" % e["ratio"] in line and " %s " % e["verdict"] in line, line
    row = next(l for l in open(work + "/r.md") if l.startswith("| %s | %s |" % (label, c["arm"])))
    assert "| %.2fx |" % e["ratio"] in row and "| %s |" % e["verdict"] in row, row
for sentence in r["sentences"]:
    assert sentence in " ".join(open(work + "/out").read().split()), sentence
END
