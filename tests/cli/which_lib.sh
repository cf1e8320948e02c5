# SPDX-License-Identifier: MIT
# What the tests of spur which share; to be sourced. Everything they look at is constructed here.
. "$(dirname "$0")/lib.sh"
requires cc python3
unset LD_LIBRARY_PATH LD_PRELOAD PYTHONPATH
export HOME="$work"

# so FILE [OPTIONS OF cc]...: a shared object of that name, with the folders above it.
so() {
    file=$work/$1
    shift
    mkdir -p "${file%/*}"
    echo 'int cuFileDriverOpen(void) { return 0; }' | cc -shared -fPIC -nostdlib -x c -o "$file" - -x none -Wl,--no-as-needed -Wl,-soname,"${file##*/}" "$@" ||
        fail "cc: $file"
}

# program FILE [OPTIONS OF cc]...: one that calls into it; with OPEN=getpid one that does not.
program() {
    file=$work/$1
    shift
    mkdir -p "${file%/*}"
    echo 'int cuFileDriverOpen(void); int main(void) { return cuFileDriverOpen(); }' |
        cc -x c ${OPEN:+-DcuFileDriverOpen="$OPEN"} -o "$file" - -x none -Wl,--no-as-needed "$@" || fail "cc: $file"
}

# reads WORDS: what the last expect printed has them, wherever its lines were folded.
reads() {
    tr -s ' \n' ' ' <"$work/out" | grep -qF -- "$1" || fail "no \"$1\" in stdout"
}

# answer CODE OPTIONS...: the JSON is in $work/a.json.
answer() {
    want=$1
    shift
    expect "$want" "$SPUR" which --json "$@"
    cp "$work/out" "$work/a.json"
}

# holds EXPRESSION: of Python, on a (the answer), app (its first application), libs, uses and work.
holds() {
    python3 - "$work" "$1" <<'END' || fail "not so: $1
$(cat "$work/a.json")"
import json, os, sys
work = os.path.realpath(sys.argv[1])
a = json.load(open(work + "/a.json"))
app = a["applications"][0]
libs, uses = app["libraries"], app["uses"]
taken = [l["file"] for l in libs if l["taken"]]
sys.exit(not eval(sys.argv[2]))
END
}

# package SITE NAME VERSION [LINES OF METADATA]
package() {
    mkdir -p "$work/$1/$2-$3.dist-info"
    printf 'Metadata-Version: 2.1\nName: %s\nVersion: %s\n%s\n' "$2" "$3" "${4:-}" >"$work/$1/$2-$3.dist-info/METADATA"
}
