#!/bin/sh
# SPDX-License-Identifier: MIT
# Where the file system has no nameless files, a hidden temporary is used, marked as unfinished until the end.
. "$(dirname "$0")/lib.sh"
requires_strace
requires python3

dir=$work/dir
mkdir "$dir"
# The run of openat up to the one that asks for the nameless file; sh, if it starts spur, opens files before it.
# shellcheck disable=SC2016
start='echo $$ >"$1"; shift; exec "$@"'
expect 0 traced "$work/log" -e trace=openat -- sh -c "$start" sh "$work/pid" "$SPUR" prepare "$dir/f" --size 1M
nth=$(grep openat "$work/log" | grep -n O_TMPFILE | cut -d: -f1)
[ -n "$nth" ] || fail "prepare did not ask for a nameless file"
rm "$dir/f"
named() { # INJECTION ARGUMENTS...
    inject=$1
    shift
    rm -f "$work/log" "$work/pid"
    traced "$work/log" -e trace=openat,pwrite64,renameat2 -e inject=openat:error=EOPNOTSUPP:when="$nth" -e "$inject" -- \
        sh -c "$start" sh "$work/pid" "$SPUR" prepare "$@"
}
made() { grep -q 'spur-.*O_CREAT|O_EXCL' "$work/log" 2>/dev/null; }

long=$(printf '%0255d' 0)
for name in f "$long"; do
    expect 0 named inject=renameat2:delay_enter=1 "$dir/$name" --size 9M
    made || fail "no temporary was made"
    [ "$(ls -A "$dir")" = "$name" ] || fail "besides $name there is $(ls -A "$dir")"
    python3 "$here/judge.py" "$dir/$name" || fail "blocks are wrong"
    rm "$dir/$name"
done

expect 0 named inject=renameat2:error=EINVAL "$dir/f" --size 1M # as on NFS
[ "$(ls -A "$dir")" = f ] || fail "a placeholder or temporary stayed"
rm "$dir/f"

expect 1 named inject=pwrite64:error=EIO:when=2+ "$dir/f" --size 9M
one_line
made || fail "no temporary was made"
[ -z "$(ls -A "$dir")" ] || fail "left $(ls -A "$dir")"

begun() { made && grep 'pwrite64.*SPUR' "$work/log" | sed -n 3p | grep -q SPUR; }
for signal in INT KILL; do
    rm -f "$work/log"
    named inject=pwrite64:delay_enter=100000 "$dir/f" --size 64M --threads 1 >"$work/out" 2>"$work/err" &
    job=$!
    wait_until begun
    kill -$signal "$(cat "$work/pid")"
    wait $job
    left=$(ls -A "$dir")
    case $signal in
    INT) [ -z "$left" ] || fail "SIGINT left $left" ;;
    KILL) # nothing can be removed then
        [ "${left#.f.spur-}" != "$left" ] || fail "SIGKILL left $left"
        [ "$(magic "$dir/$left")" = SPURPART ] || fail "$left looks whole"
        ;;
    esac
    [ -z "$left" ] || rm "$dir/$left"
done

# What appeared meanwhile is not replaced.
rm -f "$work/log"
named inject=pwrite64:delay_enter=50000 "$dir/f" --size 32M --threads 1 >"$work/out" 2>"$work/err" &
job=$!
wait_until begun
echo "precious" >"$dir/f"
code=0
wait $job || code=$?
[ $code -eq 3 ] || fail "exit code $code"
says err "appeared"
[ "$(cat "$dir/f")" = precious ] || fail "it was replaced"
[ "$(ls -A "$dir")" = f ] || fail "a temporary stayed"
