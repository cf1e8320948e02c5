#!/bin/sh
# SPDX-License-Identifier: MIT
# Where the file system has no nameless files, a hidden temporary is used, marked as unfinished until the end.
. "$(dirname "$0")/lib.sh"
requires_strace
requires python3

dir=$work/dir
mkdir "$dir"
# The second opening of the directory asks for the nameless file.
named() { # LOG INJECTION ARGUMENTS...
    log=$1 inject=$2
    shift 2
    traced "$log" -e trace=openat,pwrite64,renameat2 -e inject=openat:error=EOPNOTSUPP:when="$second" -e "$inject" -- "$@"
}
expect 0 traced "$work/log" -e trace=openat -- "$SPUR" prepare "$dir/f" --size 1M
second=$(grep openat "$work/log" | grep -n O_TMPFILE | cut -d: -f1)
[ -n "$second" ] || skip "no nameless files here to begin with"
rm "$dir/f"

long=$(printf '%0255d' 0)
for name in f "$long"; do
    expect 0 named "$work/log" inject=renameat2:delay_enter=1 "$SPUR" prepare "$dir/$name" --size 9M
    grep -q 'O_CREAT|O_EXCL' "$work/log" || fail "no temporary was made"
    [ "$(ls -A "$dir")" = "$name" ] || fail "besides $name there is $(ls -A "$dir")"
    python3 "$here/judge.py" "$dir/$name" || fail "blocks are wrong"
    rm "$dir/$name"
done

expect 0 named "$work/log" inject=renameat2:error=EINVAL "$SPUR" prepare "$dir/f" --size 1M # as on NFS
[ "$(ls -A "$dir")" = f ] || fail "a placeholder or temporary stayed"
rm "$dir/f"

expect 1 named "$work/log" inject=pwrite64:error=EIO:when=2+ "$SPUR" prepare "$dir/f" --size 9M
one_line
[ -z "$(ls -A "$dir")" ] || fail "left $(ls -A "$dir")"

for signal in INT KILL; do
    rm -f "$work/log" "$work/pid"
    # shellcheck disable=SC2016
    named "$work/log" inject=pwrite64:delay_enter=100000 \
        sh -c 'echo $$ >"$1"; exec "$2" prepare "$3" --size 64M --threads 1' sh "$work/pid" "$SPUR" "$dir/f" \
        >"$work/out" 2>"$work/err" &
    job=$!
    begun() { [ "$(grep -c 'pwrite64.*SPUR' "$work/log" 2>/dev/null)" -ge 3 ]; }
    # sh opens files too before it becomes spur: count anew.
    n=0
    until begun || [ $n -gt 300 ]; do
        n=$((n + 1))
        sleep 0.01
    done
    kill -$signal "$(cat "$work/pid")"
    wait $job
    for left in "$dir"/.f.spur-* "$dir"/f; do
        [ ! -e "$left" ] || [ $signal = KILL ] || fail "SIG$signal left $left"
        [ ! -e "$left" ] || [ "$(magic "$left")" = SPURPART ] || fail "$left looks whole"
    done
    rm -rf "$dir"
    mkdir "$dir"
done
