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
says out "block 5,"
says_not out "block 6,"
says_not out "left out"
[ "$(ls)" = "$(printf 'err\nf\nout')" ] || fail "a dry run left something: $(ls)"
[ "$(fingerprint f)" = "$before" ] || fail "a dry run touched the file"

expect 0 "$SPUR" compare --quick --memory emulated --file f --arm odirect --arm fanout --threads 1..16 --dry-run
says out "axis threads: 1, 4, 16; --quick left out 2 of its 5 values"

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
# --quick on the command line goes before a job file's windows, and not before --seconds.
printf '[sweep]\nfile = f\nmemory = pinned\nseconds = 10\nwarmup = 2s\n[arm odirect]\n[arm fanout]\n' >job.ini
expect 0 "$SPUR" compare job.ini --quick --dry-run
says out "seconds=1s, warmup=200ms"
expect 0 "$SPUR" compare job.ini --quick --seconds 3 --dry-run
says out "seconds=3"
# Memory is resolved wherever it stands.
expect 0 "$SPUR" compare --file f --memory pinned,auto --arm odirect --arm fanout --dry-run
says out "  memory pinned"
says_not out "auto"
expect 0 "$SPUR" compare --file f --arm a:path=odirect,memory=pinned --arm b:path=odirect,memory=auto --dry-run
says_not out "memory=auto"
