#!/bin/sh
# SPDX-License-Identifier: MIT
# fio and spur on one simulated mount: each request of theirs is in its log, and the rates that they and the log give agree.
. "$(dirname "$0")/run_lib.sh"
. "$(dirname "$0")/simfs_lib.sh"
requires fio

# Each asks for 64 times 1 MiB, four at a time: 20 ms each, so that what else this machine does hardly counts.
by_spur() {
    path=$1
    shift
    trial 0 --file "$mount/data.0" --path "$path" --memory pageable --request 1M --bytes 64M --verify off "$@"
    mv "$work/r.json" "$work/$n.$path.json"
}

round() {
    expect 0 fio --name=f --filename="$mount/data.0" --readonly --rw=read --bs=1M --direct=1 --ioengine=psync --thread --numjobs=4 \
        --size=16M --offset_increment=16M --group_reporting --output-format=json --output="$work/$n.fio.json"
    by_spur odirect --threads 4
    by_spur fanout --threads 1 --depth 4
}

cat >"$work/judge.py" <<'END_OF_JUDGE'
import json, statistics, sys
work, rounds = sys.argv[1], int(sys.argv[2])
names, count, mib = ("fio", "odirect", "fanout"), 64, 1 << 20
wire = [w for w in (line.split() for line in open(work + "/log")) if w[0] != "#" and w[4] == str(mib)]
runs = [wire[i:i + count] for i in range(0, len(wire), count)]
assert len(wire) == count * len(names) * rounds, "%d requests on the wire" % len(wire)
rate = {}
for i, run in enumerate(runs):
    name = names[i % 3]
    assert sorted(int(w[3]) for w in run) == [k * mib for k in range(count)], "%s: other offsets" % name
    r = json.load(open("%s/%d.%s.json" % (work, i // 3, name)))
    if name == "fio":
        r = r["jobs"][0]["read"]
        r.update(bytes=r["io_bytes"], requests=r["total_ios"], seconds=r["runtime"] / 1e3)
    assert r["bytes"] == count * mib and r["requests"] == count, (name, r["bytes"], r["requests"])
    took = (max(int(w[0]) + int(w[6]) for w in run) - min(int(w[0]) for w in run)) / 1e9
    rate.setdefault(name, []).append(r["bytes"] / r["seconds"])
    rate.setdefault(name + " by the log", []).append(count * mib / took)
middle = {k: statistics.median(v) for k, v in rate.items()}
for k, v in rate.items():
    print("%-18s %6.1f MiB/s [%.1f, %.1f]" % (k, middle[k] / mib, min(v) / mib, max(v) / mib))
model = 4 * mib / 20e-3
sys.exit(max(middle.values()) > 1.05 * min(middle.values()) or max(middle.values()) > 1.01 * model)
END_OF_JUDGE

# Other programs can hold up a round, or three; never all.
for rounds in 3 5 9; do
    simfs --size 64M --latency 20ms --log "$work/log"
    n=0
    while [ $n -lt $rounds ]; do
        round
        n=$((n + 1))
    done
    unmounted
    code=0
    python3 "$work/judge.py" "$work" $rounds || code=$?
    [ $code -ne 0 ] || exit 0
done
fail "they do not agree"
