# SPDX-License-Identifier: MIT
# What the tests of spur doctor share; to be sourced.
. "$(dirname "$0")/lib.sh"
requires python3
machines=$root/tests/data/doctor

# copy NAME: a machine of its own to change, in $work/m.
copy() {
    rm -rf "$work/m"
    cp -a "$machines/$1/root" "$work/m"
    chmod -R u+w "$work/m"
}

# holds EXPRESSION...: of the report r that the last expect printed; found(CHECK) are its findings.
holds() {
    python3 - "$work/out" "$@" <<'PYTHON' || fail "not so: see above"
import json, sys
def refuse(text): raise ValueError(text)
r = json.load(open(sys.argv[1], encoding='utf-8'), parse_constant=refuse)
def found(check, severity=None):
    return [f for f in r['findings'] if f['check'] == check and severity in (None, f['severity'])]
def verdict(i=0): return r['files'][i]['verdict']
for text in sys.argv[2:]:
    if not eval(text):
        sys.exit('not so: ' + text)
PYTHON
}
