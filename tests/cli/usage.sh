#!/bin/sh
# SPDX-License-Identifier: MIT
# Bad command lines: exit 2, one line on stderr that names the cause, nothing on stdout.
. "$(dirname "$0")/lib.sh"

bad() { # WORDS ARGUMENTS...
    words=$1
    shift
    expect 2 "$SPUR" "$@"
    one_line
    says err "$words"
}
bad "did you mean prepare?" prepar
bad "unknown command 'frobnicate'; spur help" frobnicate
bad "a command comes first" --file x
bad "did you mean --size?" prepare "$work/f" --szie 1M
bad "--help lists the options" prepare "$work/f" --frobnicate
bad "options begin with two dashes: --size" prepare "$work/f" -size 1M
bad "its value is missing" prepare "$work/f" --size
bad "--size SIZE is required" prepare "$work/f"
bad "given twice" prepare "$work/f" --size 1M --size 1M
bad "takes no value" prepare "$work/f" --size 1M --overwrite=yes
bad "FILE is missing" prepare --size 1M
bad "unexpected argument 'b'" prepare a b --size 1M
bad "unexpected argument" list everything
bad "unknown command 'worker'" help worker
bad "unknown option --jsn; did you mean --json?" list --jsn

bad "--file FILE is required" run
bad "did you mean odirect?" run --file x --path odirct
bad "one of: null" run --file x --path zzzzzz
bad "did you mean pinned?" run --file x --memory pinnd
bad "number of a GPU" run --file x --memory cuda:x
bad "did you mean randread?" run --file x --op randraed
bad "exclude each other" run --file x --seconds 1 --bytes 1M
bad "--json: its value is empty" run --file x --json=
bad "--file: its value is empty" run --file ""
bad "--mix" run --file x --mix 30
bad "more than 100 %" run --file x --op mix --mix 101
bad "--warmup" run --file x --bytes 1M --warmup 1s
bad "--unaligned" run --file x --unaligned
bad "--overwrite" run --file x --overwrite
bad "--verify-limit" run --file x --verify off --verify-limit 1s
bad "smaller than one request" run --file x --request 1M --range 4K
bad "is not KEY=VALUE" run --file x --set advice
bad "did you mean advice?" run --file x --path buffered --set advise=random
bad "is set twice" run --file x --path buffered --set advice=random --set advice=normal
bad "--request: 0 is below the least value, 1" run --file x --request 0
bad "--threads: 0 is below the least value, 1" run --file x --threads 0
bad "--depth: 0 is below the least value, 1" run --file x --depth 0
bad "unit is missing" run --file x --warmup 3

[ ! -e "$work/f" ] || fail "something was written"
expect 2 "$SPUR"
[ ! -s "$work/out" ] || fail "help without being asked is on stdout"
