# SPDX-License-Identifier: MIT
# What the tests of spur compare share beyond run_lib.sh; to be sourced.
. "$(dirname "$0")/run_lib.sh"
requires sqlite3

# Short trials on host memory: what is tested here is the experiment, not the storage.
short="--warmup 0s --interval 20ms --request 64K --memory emulated --verify-limit 50ms"

# sql DB QUERY: what the results hold.
sql() {
    sqlite3 -batch "$1" "$2"
}

window=40ms
span= # instead of the window

# compared CODE DB OPTIONS...: spur compare with new results.
compared() {
    compared_code=$1
    compared_db=$2
    shift 2
    rm -f "$compared_db" "$compared_db.lock"
    # shellcheck disable=SC2086
    expect "$compared_code" "$SPUR" compare --results "$compared_db" ${span:---seconds $window} $short "$@"
}

# report_holds DB EXPRESSION...: Python, true of the report's JSON r.
report_holds() {
    "$SPUR" report "$1" --json - >"$work/report.json" || fail "no report of $1"
    shift
    python3 - "$work/report.json" "$@" <<'END' || fail "the report is not as it must be"
import json, sys
def never(word):
    raise ValueError("no strict JSON: " + word)
r = json.load(open(sys.argv[1], encoding="utf-8"), parse_constant=never)
for text in sys.argv[2:]:
    if not eval(text):
        print("not true:", text, file=sys.stderr)
        sys.exit(1)
END
}
