#!/bin/sh
# SPDX-License-Identifier: MIT
# --json: strict, every key there, each null with its reason; - leaves stdout to it alone.
. "$(dirname "$0")/run_lib.sh"

prepared f 1M
expect 0 "$SPUR" run --file "$work/f" --bytes 1M --request 64K --json -
cp "$work/out" "$work/r.json"
grep -q "verified" "$work/err" || fail "the table is not on stderr"
cat >"$work/keys.py" <<'END'
import json, sys
r = json.load(open(sys.argv[1]), parse_constant=lambda w: sys.exit("no strict JSON"))
keys = """schema spur environment requested effective observed served complete bytes requests seconds bytes_per_second
requests_per_second latency_ns cpu verify cache device evidence wire parts setup_s intervals nulls errors""".split()
missing = [k for k in keys if k not in r]
assert not missing, missing
assert list(r["environment"]) == ["begin", "end"] and {"process", "machine"} <= set(r["cpu"])
def nulls(value, name):
    if value is None:
        yield name
    elif isinstance(value, dict):
        for k, v in value.items():
            if k != "nulls":
                yield from nulls(v, name + "." + k if name else k)
without = [n for n in nulls(r, "") if not r["nulls"].get(n) and not n.startswith(("requested", "effective"))]
assert not without, "null without a reason: %s" % without
stale = [n for n in r["nulls"] if "[]" not in n and n not in set(nulls(r, ""))]
assert not stale, "a reason without its null: %s" % stale
END
for path in null buffered odirect fanout; do
    for time in "--bytes 1M" "--seconds 50ms --warmup 0s --interval 0" "--seconds 2100ms --warmup 0s"; do
        # shellcheck disable=SC2086
        trial 0 --file "$work/f" --path $path --request 64K $time
        python3 "$work/keys.py" "$work/r.json" || fail "$path $time"
        [ "$time" != "--seconds 50ms --warmup 0s --interval 0" ] || holds 'r["intervals"] == []'
        [ "$path" = null ] || break
    done
done
