#!/bin/sh
# SPDX-License-Identifier: MIT
# Bad plans: one line, cause and remedy, before any trial; nothing is left.
. "$(dirname "$0")/compare_lib.sh"

prepared f 4M
cd "$work" || exit 1
foreign=$(mktemp)
trap 'rm -rf "$work" "$foreign"' EXIT
head -c 4M /dev/urandom >"$foreign"
bad() { # CODE WORDS OPTIONS...
    bad_code=$1
    bad_words=$2
    shift 2
    # shellcheck disable=SC2086
    expect "$bad_code" "$SPUR" compare --seconds $window --memory emulated --file f "$@"
    one_line
    says err "$bad_words"
    [ "$(ls)" = "$(printf 'err\nf\nout')" ] || fail "something was left: $(ls)"
}
bad 2 "arm" --arm odirect
bad 2 "fanuot" --arm odirect --arm fanuot
bad 2 "piece" --arm odirect --arm fanout:peice=64K
bad 2 "thraeds" --arm odirect --arm fanout --axis thraeds=1,2
bad 2 "threads" --arm odirect:threads=1 --arm fanout --axis threads=1,2
bad 2 "there is no arm" --arm odirect --arm fanout --baseline buffered
bad 2 "odirect" --arm odirect --arm odirect
bad 2 "--threads" --arm odirect --arm fanout --threads 1,zwei
bad 2 "threads" --arm odirect --arm fanout --threads 0..4
bad 2 "can run in no cell" --arm odirect:depth=4 --arm fanout
# A word that nothing knows is told wherever it stands; nothing is left out of the plan for it.
expect 2 "$SPUR" compare --file f --arm odirect --arm fanout --memory pinned,host --dry-run
says err "--memory: 'host' is not known; one of: auto, pageable"
bad 2 "--cpus: 'zz' is no list of CPUs" --arm odirect --arm fanout --cpus 0,zz
bad 2 "--op: 'bogus' is not known" --arm odirect --arm fanout --op read,bogus
bad 2 "--set: piece: '3' is out of range; path fanout takes: auto, 4K..64M" --arm odirect --arm fanout --set piece=64K,3
bad 2 "--arm fanout: engine: 'fast' is out of range" --arm odirect --arm fanout:engine=fast
for words in "arm odirect can run in no cell: total of 8388608 bytes is more than the 4194304" \
    "--region rotate: one of 2 parts has 2097152 bytes"; do # before the first trial, as spur run says it
    bytes=$([ "${words#--region}" = "$words" ] && echo 8M --region same || echo 4M --region rotate)
    # shellcheck disable=SC2086
    expect 2 "$SPUR" compare --memory emulated --file f --arm odirect --arm fanout --bytes $bytes
    one_line
    says err "$words"
done
bad 2 "multiple of" --arm odirect --arm fanout --request 1000
bad 2 "--blocks" --arm odirect --arm fanout --blocks 0
bad 2 "exclude each other" --arm odirect --arm fanout --blocks 7 --until-decided
bad 3 "was not made by spur" --arm odirect --arm fanout --op write --file "$foreign"
bad 2 "region" --arm odirect --arm fanout --region rotate --request 4M
bad 3 "--allow-code" --arm odirect --arm fanout --axis cores=1,2 --prepare 'cores=true {}'
bad 1 "missing: No such file or directory (stat); correct the name" --arm odirect --arm fanout:file=missing
# Where the results cannot be is said before anything is opened, by a dry run too.
for dry in "" --dry-run; do
    # shellcheck disable=SC2086
    bad 1 "make the folder first" --arm odirect --arm fanout --file missing --results none/r.db $dry
    # shellcheck disable=SC2086
    bad 3 "err: exists already" --arm odirect --arm fanout --file missing --results err $dry
done
bad 1 "make the folder first" --arm odirect --arm fanout --html none/r.html
bad 1 "files to measure are named with --file" f
bad 1 "files to measure are named with --file" missing.ini
# The page, or the job file, in the place of the results.
for name in x.db "$work/x.db" ../"${work##*/}/x.db"; do
    bad 2 "--html: $name is the results file; name another file" --arm odirect --arm fanout --results x.db --html "$name"
done
bad 2 "is the lock of the results file" --arm odirect --arm fanout --results x.db --html ./x.db.lock
bad 2 "--write-job: ./x.db is" --arm odirect --arm fanout --results x.db --write-job ./x.db
bad 2 "both go to ./x" --arm odirect --arm fanout --html x --write-job ./x
mkfifo "$foreign.fifo"
chmod 755 "$foreign.fifo"
bad 3 "is a FIFO" --arm odirect --arm fanout --file "$foreign.fifo" --dry-run
bad 3 "is a FIFO" --arm odirect --arm fanout --file "$foreign.fifo"
expect 3 timeout 20 "$SPUR" compare --file f --memory emulated --arm odirect --arm fanout --axis cores=1,2 \
    --prepare "cores=$foreign.fifo {}" --allow-code --dry-run
says err "not a regular file"
expect 2 timeout 20 "$SPUR" compare "$foreign.fifo" # which nobody writes
one_line
says err "it is a FIFO"
rm "$foreign.fifo"
bad 2 "unknown option" --arm odirect --arm fanout --thread 1
# A road that is not there is refused, as run refuses it.
SPUR_LIBCUFILE=$work/none bad 3 "$work/none" --arm odirect --arm cufile
SPUR_LIBCUFILE=$work/none bad 3 "$work/none" --arm odirect --arm cufile:route=any
SPUR_LIBCUFILE=$work/none expect 3 "$SPUR" run --file f --memory emulated --path cufile
SPUR_LIBCUFILE=$work/none expect 3 "$SPUR" run --file f --memory emulated --path cufile --set route=any
for command in "run --path odirect" "compare --arm odirect --arm fanout"; do
    # shellcheck disable=SC2086
    SPUR_LIBCUDA=$work/none expect 3 "$SPUR" $command --file f --memory cuda
    one_line
    says err "$work/none not found"
done
# Others still run; what to do stands in the plan.
SPUR_LIBCUFILE=$work/none expect 0 "$SPUR" compare --file f --memory emulated --arm odirect --arm fanout --arm cufile --dry-run
says out "refused: cufile in cell all: $work/none: cannot open shared object file"
says out "install a cuFile library"
# The remedy that run prints is printed here too.
for command in "run --path odirect" "compare --arm odirect --arm fanout"; do
    # shellcheck disable=SC2086
    expect 2 "$SPUR" $command --file f --memory gpu
    one_line
    says err "--memory: 'gpu' is not known; one of: auto, pageable"
done
# In a job file with its line.
job=$(mktemp)
placed() { # WORDS SWEEP FANOUT
    printf '[sweep]\n%s\n[arm odirect]\n[arm fanout]\n%s\n' "$2" "$3" >"$job"
    expect 2 "$SPUR" compare --file f "$job" --dry-run
    one_line
    says err "$job:$1"
}
placed "2: memory: 'hots' is not known" "memory = pinned,hots"
placed "5: piece: '3' is out of range" "" "piece = 3"
placed "5: advice: path fanout of arm fanout has no setting 'advice'" "" "advice = random"
placed "2: unaligned: arm odirect can run in no cell: --unaligned: --op read draws no offsets" "unaligned = yes"
placed "5: piece: arm fanout can run in no cell: fanout: piece=5000 is no multiple of 4096" "" "piece = 5000"
printf '[sweep]\nthreads = 1,2\nresults = x.db\n[arm odirect]\n[arm fanout]\n' >"$job"
bad 2 "results" "$job"
rm -f "$job"
touch taken.db
expect 3 "$SPUR" compare --file f --arm odirect --arm fanout --results taken.db
one_line
[ ! -s taken.db ] || fail "a file of the user's was written"
expect 1 "$SPUR" compare --resume missing.db
one_line
mkdir folder
expect 3 "$SPUR" compare --resume folder
says err "not a regular file; name a results file"
expect 3 "$SPUR" compare --resume f
one_line
# A folder that this user cannot write; of root's, nobody.
mkdir locked
chmod 555 locked
chmod 755 .
user=
[ "$(id -u)" -ne 0 ] || user=as_nobody
if $user "$SPUR" help >/dev/null 2>&1; then
    expect 1 $user "$SPUR" compare --file f --arm odirect --arm fanout --results locked/r.db --dry-run
    one_line
    says err "locked/r.db: its folder $(realpath locked): Permission denied (access); name another place for the results"
fi
