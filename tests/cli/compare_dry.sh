#!/bin/sh
# SPDX-License-Identifier: MIT
# --dry-run shows plan, order and what is not applicable, and leaves nothing; --write-job makes the same plan.
. "$(dirname "$0")/compare_lib.sh"

prepared f 4M
before=$(fingerprint "$work/f")
cd "$work" || exit 1
# shellcheck disable=SC2086
expect 0 "$SPUR" compare --seconds $window $short --file f --arm odirect --arm fanout --threads 1,2 --depth 1,4 --blocks 5 --seed 3 --dry-run
says out "not applicable: odirect in cell threads 1, depth 4: --depth 4: path odirect keeps at most 1 request"
says out "not applicable: fanout in cell threads 1, depth 4: there is no baseline here: odirect is not applicable"
says out "block 5,"
says_not out "block 6,"
says_not out "left out"
[ "$(ls)" = "$(printf 'err\nf\nout')" ] || fail "a dry run left something: $(ls)"
[ "$(fingerprint f)" = "$before" ] || fail "a dry run touched the file"

expect 0 "$SPUR" compare --quick --memory emulated --file f --arm odirect --arm fanout --threads 1..16 --dry-run
says out "axis threads: 1, 4, 16; --quick left out 2 of its 5 values"

# It goes before a job file's longer windows, not before --seconds beside it; a written plan has its own.
shortened() { # TIME OPTIONS...
    shortened_time=$1
    shift
    expect 0 "$SPUR" compare q.ini --memory emulated --file f --dry-run "$@"
    says out "trials, at least $shortened_time and verification"
}
printf '[sweep]\nseconds = 2..32\nwarmup = 3s\nblocks = 5\n[arm odirect]\n[arm fanout]\nseconds = 20\n' >q.ini
expect 2 "$SPUR" compare q.ini --file f --dry-run # seconds of an arm are no axis
sed -i '$d' q.ini
shortened "12 m 50 s"
shortened "12.0 s" --quick
shortened "32.0 s" --quick --seconds 3
shortened "6 m 30 s" --quick --warmup 0 --seconds 1..30
expect 0 "$SPUR" compare q.ini --memory emulated --file f --quick --seconds 70ms --write-job w.ini
expect 0 "$SPUR" compare w.ini --dry-run
says out "seconds=70ms"
grep -qx 'quick = yes' w.ini || fail "windows of 70 ms are not quick"
rm w.ini
expect 0 "$SPUR" compare q.ini --memory emulated --file f --quick --seconds 3 --write-job w.ini
says_not w.ini quick # windows of 3 s are not short
rm q.ini w.ini

# Memory is resolved wherever the plan says it, and each is printed.
SPUR_LIBCUDA=$work/none
export SPUR_LIBCUDA
expect 0 "$SPUR" compare --file f --arm odirect --arm fanout --memory pinned,auto --dry-run
says out "axis memory: pinned, emulated"
says out "  memory pinned"
says out "  memory emulated (emulated GPU: "
says out "for no GPU answers ($work/none not found"
says out "block 1, memory emulated:"
expect 0 "$SPUR" compare --file f --arm a:path=odirect,memory=pinned --arm b:path=odirect --dry-run --aa
says out "arm b: path=odirect"
says out "all: file=f, memory=emulated"
says out "  memory pinned"
expect 2 "$SPUR" compare --file f --arm odirect --arm fanout --memory emulated,auto --dry-run
one_line
says err "memory: auto is emulated here"

# The time is a lower bound: windows and warm-ups of what is run in any case.
at_least() { # TIME OPTIONS...
    at_least_time=$1
    shift
    expect 0 "$SPUR" compare --memory emulated --file f --arm odirect --arm fanout --seconds 3s --warmup 1s --dry-run "$@"
    says out "trials, at least $at_least_time and verification"
}
at_least "80.0 s" --blocks 10
at_least "8.00 s" --blocks 1
says out "2 arms, 1 cell, 1 block: 2 trials"
at_least "40.0 s" --until-decided
at_least "8.00 s" --blocks 10 --limit 1h

# shellcheck disable=SC2086
expect 0 "$SPUR" compare --seconds $window $short --file f --arm odirect --arm 'fan:path=fanout,piece=64K' --threads 1..4 --aa --region rotate \
    --blocks 6 --seed 3 --write-job job.ini
# shellcheck disable=SC2086
expect 0 "$SPUR" compare --seconds $window $short --file f --arm odirect --arm 'fan:path=fanout,piece=64K' --threads 1..4 --aa --region rotate \
    --blocks 6 --seed 3 --dry-run
mv out straight
expect 0 "$SPUR" compare job.ini --dry-run
cmp out straight || fail "the job file is another plan: $(cat job.ini)"
expect 3 "$SPUR" compare job.ini --write-job job.ini
one_line
says err "exists"

# What was resolved stands in the results too.
expect 0 "$SPUR" compare --results m.db --seconds $window --warmup 0s --verify-limit 50ms --file f --arm odirect --arm fanout --memory pinned,auto --blocks 1
says out "memory pinned, emulated: each arm or cell its own"
report_holds m.db 'r["plan"]["memory"] is None' 'r["nulls"]["plan.memory"]' '[v["text"] for v in r["plan"]["axes"][0]["values"]] == ["pinned", "emulated"]'
[ "$(sql m.db "select typeof(value) from experiment where key = 'memory'")" = null ] || fail "the memory of all trials is not NULL"
expect 0 "$SPUR" compare --resume m.db
says out "  memory emulated"
