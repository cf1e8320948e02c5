# SPDX-License-Identifier: MIT
# What the tests of spur run share beyond lib.sh; to be sourced.
. "$(dirname "$0")/lib.sh"
requires python3

# prepared NAME SIZE: a file in spur's format, $work/NAME.
prepared() {
    "$SPUR" prepare "$work/$1" --size "$2" >/dev/null || fail "cannot prepare $1"
}

# trial CODE OPTIONS...: spur run with its result in $work/r.json.
trial() {
    rm -f "$work/r.json"
    want_code=$1
    shift
    expect "$want_code" "$SPUR" run --quiet --json "$work/r.json" "$@"
}

# holds EXPRESSION...: Python, true of the result r in $work/r.json (strict JSON: no NaN or Infinity).
holds() {
    python3 - "$work/r.json" "$@" <<'END' || fail "the result is not as it must be"
import json, sys
def never(word):
    raise ValueError("no strict JSON: " + word)
with open(sys.argv[1], encoding="utf-8") as f:
    r = json.load(f, parse_constant=never)
for text in sys.argv[2:]:
    if not eval(text):
        print("not true:", text, file=sys.stderr)
        for key in ("complete", "bytes", "requests", "seconds", "verify", "errors", "notes"):
            print("  %s: %s" % (key, r.get(key)), file=sys.stderr)
        sys.exit(1)
END
}

# refused CODE WORDS OPTIONS...: one clear line on stderr, and no result.
refused() {
    refused_code=$1
    refused_words=$2
    shift 2
    rm -f "$work/r.json"
    expect "$refused_code" timeout 60 "$SPUR" run --seconds 50ms --warmup 0s --json "$work/r.json" "$@"
    one_line
    says err "$refused_words"
    [ ! -e "$work/r.json" ] || fail "a result of a trial that never began"
}

# The worker of the spur process $1.
worker_of() {
    pgrep -P "$1"
}

has_worker() {
    worker_of "$1" >/dev/null
}

# started OPTIONS...: spur run in the background, $spur_pid, its worker $worker_pid. With an empty $quiet, running knows
# when the set-up is over.
started() {
    rm -f "$work/r.json"
    # A shell starts background processes with SIGINT ignored: that is undone.
    env --default-signal=INT "$SPUR" run ${quiet---quiet} --json "$work/r.json" "$@" >"$work/out" 2>"$work/err" &
    spur_pid=$!
    wait_until has_worker "$spur_pid"
    worker_pid=$(worker_of "$spur_pid")
}

running() {
    grep -q '^spur run: ' "$work/out"
}

# ended CODE: the spur that was started ended so, and its worker with it.
ended() {
    code=0
    wait "$spur_pid" || code=$?
    [ "$code" -eq "$1" ] || fail "exit code $code instead of $1"
    gone "$worker_pid" || fail "the worker outlived spur"
}

gone() {
    [ ! -e "/proc/$1/task" ] || grep -qs '^State:.*Z' "/proc/$1/status"
}

# As an ordinary user, who must be able to reach $work.
as_nobody() {
    setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
}

requires_nobody() {
    requires_root "another user"
    requires setpriv
    chmod 755 "$work"
    as_nobody "$SPUR" help >/dev/null 2>&1 || skip "another user cannot run $SPUR"
}

# The fake GPU: SPUR_FAKE_CUDA names its library.
requires_fake_cuda() {
    [ -n "${SPUR_FAKE_CUDA:-}" ] || skip "SPUR_FAKE_CUDA does not name the fake libcuda"
    export SPUR_LIBCUDA="$SPUR_FAKE_CUDA" FAKE_CUDA_CHECK=1
}

# strace makes calls on FILE go wrong (it counts them per thread): injected FILE "RULES" OPTIONS..., its exit code checked as by trial.
injected() {
    want_code=$1
    file=$2
    rules=$3
    shift 3
    rm -f "$work/r.json"
    ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" expect "$want_code" strace -f -qq -P "$file" \
        -e trace=pread64,pwrite64 -e "$rules" -o "$work/strace" \
        "$SPUR" run --quiet --json "$work/r.json" --file "$file" "$@"
    grep -qE "INJECTED|DELAYED" "$work/strace" || fail "nothing was injected: $rules"
}
