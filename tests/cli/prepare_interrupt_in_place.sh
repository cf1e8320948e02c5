#!/bin/sh
# SPDX-License-Identifier: MIT
# Interrupted or killed while it writes in place, prepare leaves a file that does not look whole, and is made whole later.
. "$(dirname "$0")/lib.sh"
requires_strace
requires python3

f=$work/f
begun() { grep -s 'pwrite64.*SPUR' "$work/log" | sed -n "${least}p" | grep -q SPUR; }
for signal in INT TERM KILL; do
    for least in 1 3; do # at the mark, and among the data
        expect 0 "$SPUR" prepare "$f" --size 64M --seed 1
        rm -f "$work/log" "$work/pid"
        # shellcheck disable=SC2016
        traced "$work/log" -e trace=pwrite64 -e inject=pwrite64:delay_exit=100000 -- \
            sh -c 'echo $$ >"$1"; exec "$2" prepare "$3" --size 64M --seed 2 --threads 1' sh "$work/pid" "$SPUR" "$f" \
            >"$work/out" 2>"$work/err" &
        job=$!
        wait_until begun
        kill -$signal "$(cat "$work/pid")"
        code=0
        wait $job || code=$?
        [ $code -ge 128 ] || fail "SIG$signal: exit code $code"
        [ "$(magic "$f")" = SPURPART ] || fail "SIG$signal left a file that looks whole"
    done
done

# The order of things on the disk: the mark and nothing else, then the data, then the first block for good.
expect 0 "$SPUR" prepare "$f" --size 9M
expect 0 traced "$work/log" -e trace=pwrite64,fsync,ftruncate -- "$SPUR" prepare "$f" --size 8M --threads 1
sed -n 's/.*pwrite64(.*"SPUR\(....\).*, \([0-9]*\), \([0-9]*\)) .*/write \1 \2 \3/p
    s/.*\(fsync\|ftruncate\)(.*/\1/p' "$work/log" >"$work/order"
cat >"$work/right" <<'END'
write PART 4096 0
fsync
ftruncate
write PART 4194304 0
write BLK1 4194304 4194304
fsync
write BLK1 4096 0
fsync
END
diff "$work/right" "$work/order" || fail "the order of writes and syncs is wrong"

expect 0 "$SPUR" prepare "$f" --size 1M # no --overwrite: it is spur's own
says_not out "already"
python3 "$here/judge.py" "$f" || fail "blocks are wrong"
