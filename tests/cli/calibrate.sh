#!/bin/sh
# SPDX-License-Identifier: MIT
# Known truth in, known truth out: the fake cuFile has mechanisms whose parameters are drawn here; compare must find what
# follows from them, and nothing where two arms are one mechanism.
. "$(dirname "$0")/cufile_lib.sh"

# In memory: what a disk takes would be added to what the mechanisms take.
file=$work/f
memory=$(mktemp -d /dev/shm/spur-calibrate.XXXXXX 2>/dev/null) && file=$memory/f && trap 'rm -rf "$work" "$memory"' EXIT
expect 0 "$SPUR" prepare "$file" --size 32M
export FAKE_CUFILE_ROAD=nvfs
blocks="--blocks 5"
# experiment NAME OPTIONS...: its report is $work/NAME.json.
experiment() {
    name=$1
    shift
    rm -f "$work/$name.db" "$work/$name.db.lock"
    # shellcheck disable=SC2086
    expect 0 "$SPUR" compare --results "$work/$name.db" --file "$file" --memory cuda:0 --path cufile --seconds 250ms \
        --warmup 0s --interval 0 --verify off $blocks "$@"
    says out "simulated"
    expect 0 "$SPUR" report "$work/$name.db" --json "$work/$name.json"
}

old=$(library 1.15.1.6)
new=$(library 1.18.1.6)
jam=$(library 1.18.0.66)
cp "$old" "$work/copy.so.1.15.1.6"
cat >"$work/judge.py" <<'END'
import json, math, sys
def load(name):
    return json.load(open("%s/%s.json" % (sys.argv[1], name)))
def effects(r, aa=False):
    """Rate of each comparison by the cell's label."""
    out = {}
    for c in r["comparisons"]:
        if c["is_aa"] == aa:
            cell = c["cell"] if isinstance(c["cell"], str) else r["cells"][c["cell"]]["label"]
            e = c["metrics"]["bytes_per_second"]
            out[cell] = (e["verdict"], e["ratio"])
    return out
faults = []
def expect(what, truth):
    if not truth:
        faults.append(what)
split, swapped, jam, alike = (effects(load(n)) for n in ("split", "swapped", "jam", "alike"))
for name, e in (("split", split), ("swapped", swapped), ("jam", jam), ("alike", alike)):
    print(name, e)
# Four pieces one by one against four at once: four times, less what copying and the calls take.
for cell, (verdict, ratio) in split.items():
    if "4M" in cell:
        expect("split %s" % cell, verdict == "better" and 2.4 < ratio < 4.6)
    else: # one piece a request: nothing to split
        expect("whole %s" % cell, verdict in ("same", "undecided") or abs(math.log(ratio)) < math.log(1.15))
for cell, (verdict, ratio) in swapped.items():
    expect("swapped %s" % cell, verdict == "worse" and 1 / 4.6 < ratio < 1 / 2.4)
for cell, (verdict, ratio) in jam.items():
    if "threads 4" in cell:
        expect("jam %s" % cell, verdict == "better" and 2.4 < ratio < 4.6)
    else:
        expect("jam %s" % cell, verdict in ("same", "undecided") or abs(math.log(ratio)) < math.log(1.15))
for cell, (verdict, ratio) in alike.items():
    expect("alike %s" % cell, verdict in ("same", "undecided") or abs(math.log(ratio)) < math.log(1.1))
for cell, (verdict, ratio) in effects(load("alike"), aa=True).items():
    expect("A/A %s" % cell, verdict in ("same", "undecided") or abs(math.log(ratio)) < math.log(1.1))
expect("cells", len(split) == 4 and len(swapped) == 2 and len(jam) == 2 and len(alike) == 2)
for f in faults:
    print("not found:", f, file=sys.stderr)
sys.exit(bool(faults))
END

all_found() {
    FAKE_CUFILE_LATENCY_US=$(python3 -c "import random; print(random.randrange(2000, 3500))")
    export FAKE_CUFILE_LATENCY_US
    echo "latency of a piece: $FAKE_CUFILE_LATENCY_US us"
    experiment split --arm old:library="$old" --arm new:library="$new" --request 1M,4M --threads 1,2
    blocks=--until-decided
    experiment swapped --arm old:library="$old" --arm new:library="$new" --baseline new --request 4M --threads 1,2
    blocks="--blocks 5"
    experiment jam --arm jam:library="$jam" --arm freed:library="$jam",json.execution.parallel_io=false --request 4M --threads 1,4
    experiment alike --arm one:library="$old" --arm two:library="$work/copy.so.1.15.1.6" --request 4M --threads 1,2 --aa
    # An effect of that size is decided at the first look, and no trial follows.
    [ "$(sqlite3 "$work/swapped.db" "select count(*) from trials")" -eq 20 ] || return 1
    [ "$(sqlite3 "$work/swapped.db" "select count(*) from events where kind = 'decided' and block = 5")" -eq 2 ] || return 1
    python3 "$work/judge.py" "$work"
}
# What else runs on the machine for a second can hide an effect, and never make one: what is there must be found in one of
# three rounds, all of it together, and in that round nothing else.
all_found || all_found || all_found || fail "compare did not find what the mechanisms are"
no_litter
