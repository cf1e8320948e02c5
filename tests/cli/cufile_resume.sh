#!/bin/sh
# SPDX-License-Identifier: MIT
# --resume refuses where a file that an arm names, the cufile.json in force or a variable that cuFile reads is not what it was,
# and says which.
. "$(dirname "$0")/cufile_lib.sh"
requires sqlite3

prepared f 4M
echo '{"properties": {"max_direct_io_size_kb": 16384}}' >"$work/lib.json"
cp "$work/lib.json" "$work/env.json"
export CUFILE_ENV_PATH_JSON="$work/env.json"
expect 0 "$SPUR" compare --results "$work/r.db" --file "$work/f" --memory cuda:0 --seconds 40ms --warmup 0s --interval 0 \
    --request 64K --verify-limit 20ms --blocks 4 --arm odirect --limit 1ms \
    --arm "own:path=cufile,route=compat,library=$(library 1.18.1.6),json=$work/lib.json" \
    --arm "env:path=cufile,route=compat,library=$(library 1.18.1.6)"
before=$(sqlite3 "$work/r.db" "select count(*) from trials")
refused() { # WORDS
    expect 3 "$SPUR" compare --resume "$work/r.db" --allow-code
    one_line
    says err "$1 changed since this experiment began"
}
for name in lib env; do
    cp "$work/$name.json" "$work/kept"
    sed -i s/16384/8192/ "$work/$name.json"
    [ $name = lib ] && refused "what is in json=$work/lib.json" || refused "what is in cufile.json=$work/env.json"
    cp "$work/kept" "$work/$name.json"
done
CUFILE_USE_PCIP2PDMA=true refused "the environment's CUFILE_USE_PCIP2PDMA"
CUDA_VISIBLE_DEVICES=0 refused "the environment's CUDA_VISIBLE_DEVICES"
cp "$work/env.json" "$work/other.json"
CUFILE_ENV_PATH_JSON=$work/other.json refused "the environment's CUFILE_ENV_PATH_JSON"
[ "$(sqlite3 "$work/r.db" "select count(*) from trials")" = "$before" ] || fail "trials were added"
CUFILE_LOGFILE_PATH=$work/log expect 0 "$SPUR" compare --resume "$work/r.db" --allow-code --limit 1ms # each trial has its own
# Results that hold none of this go on.
sqlite3 "$work/r.db" "update experiment set value = json_remove(value, '\$.contents', '\$.variables') where key = 'identity'"
CUFILE_USE_PCIP2PDMA=true expect 0 "$SPUR" compare --resume "$work/r.db" --allow-code
[ "$(sqlite3 "$work/r.db" "select count(*) from trials where status = 'ok'")" -eq 12 ] || fail "not all trials"
