#!/bin/sh
# SPDX-License-Identifier: MIT
# Where cuFile and a GPU are, the verdict is observed, and agrees with what spur run observes on the same file.
. "$(dirname "$0")/doctor_lib.sh"
: "${SPUR_FAKE_CUDA:?}" "${SPUR_FAKE_CUFILE:?}"
export SPUR_LIBCUDA="$SPUR_FAKE_CUDA"

expect 0 "$SPUR" prepare "$work/f" --size 2M
for version in 1.9.1.3 1.15.1.6; do
    export SPUR_LIBCUFILE="$SPUR_FAKE_CUFILE/libcufile.so.$version"
    for road in posix nvfs p2p; do
        export FAKE_CUFILE_ROAD=$road
        code=0
        "$SPUR" doctor --json "$work/f" >"$work/out" 2>"$work/err" || code=$?
        "$SPUR" run --file "$work/f" --path cufile --memory cuda:0 --set route=any --bytes 1M --quiet --json "$work/run.json" ||
            fail "run failed"
        seen=$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["observed"])' "$work/run.json")
        rm "$work/run.json"
        if [ "$seen" = unknown ]; then # an old library does not tell
            holds "verdict()['basis'] == 'inferred' and verdict()['road'] == 'compat'" # this machine has no other
        else
            holds "verdict() ['basis'] == 'observed'" "verdict()['road'] == '$seen'" "len(r['files'][0]['probe']['reads']) == 5"
            [ "$code" = "$([ "$seen" = compat ] && echo 4 || echo 0)" ] || fail "exit code $code for $seen"
        fi
        holds "r['simulated']"
    done
done
unset FAKE_CUFILE_ROAD
truncate -s 2M "$work/hole" # what storage does not answer shows no road
head -c 100 /dev/zero >"$work/small"
expect 4 "$SPUR" doctor --json "$work/hole" "$work/small"
holds "all(r['files'][i]['probe'] is None and verdict(i)['basis'] == 'inferred' for i in (0, 1))" \
    "'not probed' in found('file-layout', 'warn')[0]['found']" "'100 bytes: not probed' in found('file', 'note')[0]['found']"
FAKE_CUFILE_ROAD=user expect 4 "$SPUR" doctor --json "$work/f" # it counts, and on no road that it names
holds "verdict()['road'] == 'unknown' and verdict()['basis'] == 'observed' and ' operations' in verdict()['reason']"
FAKE_CUFILE_UDEV=missing expect 4 "$SPUR" doctor --json "$work/f"
holds "verdict()['road'] == 'host only' and verdict()['basis'] == 'observed' and '5027' in verdict()['reason']"
for call in load cuFileDriverOpen; do
    FAKE_CUFILE_FAIL=$call:1:abort expect 4 "$SPUR" doctor --json "$work/f"
    holds "verdict()['road'] == 'host only' and 'SIGABRT' in verdict()['reason']"
done
CUFILE_ENV_PATH_JSON=$work/none.json expect 4 "$SPUR" doctor --json "$work/f" # what it takes nevertheless, a read shows
holds "verdict()['road'] == 'compat' and verdict()['basis'] == 'observed'" "not found('cufile-json', 'fail')" \
    "'yet cuFile has just read the file' in found('cufile-json', 'note')[0]['found']"
echo '{"properties": {' >"$work/half.json"
CUFILE_ENV_PATH_JSON=$work/half.json expect 4 "$SPUR" doctor --json "$work/f"
holds "verdict()['road'] == 'host only' and verdict()['basis'] == 'observed'" "'half.json:' in verdict()['reason']" \
    "found('cufile-json', 'fail')"
expect 4 "$SPUR" doctor --json --no-probe "$work/f"
holds "verdict()['basis'] == 'inferred'" "r['files'][0]['probe'] is None"
expect 4 "$SPUR" doctor --json "$work"
holds "verdict()['basis'] == 'inferred'" "any('not probed' in f['found'] for f in found('file'))"
