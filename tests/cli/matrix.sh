#!/bin/sh
# SPDX-License-Identifier: MIT
# matrix.sh MEMORY...: paths x ops x share modes over these memories, each verified, short.
. "$(dirname "$0")/run_lib.sh"

[ "${1#cuda}" = "$1" ] || requires_fake_cuda
prepared f 2M
prepared g 1M
n=0
k=0
for memory in "$@"; do
    for path in null buffered mmap odirect fanout; do
        for op in read write randread randwrite mix; do
            for share in none handle buffer both; do
                k=$((k + 1))
                [ -z "${MATRIX_PART:-}" ] || [ $((k % 5)) -eq "$MATRIX_PART" ] || continue
                n=$((n + 1))
                case $((n % 3)) in # the other settings take turns
                0) set -- --verify inline --request 64K --threads 2 ;;
                1) set -- --verify sample --request 4K --threads 3 ;;
                2) set -- --verify sample --request 96K --threads 4 ;;
                esac
                case $((n % 2)) in
                0) set -- "$@" --bytes 3M ;;
                1) set -- "$@" --seconds 30ms --warmup 2ms ;;
                esac
                [ $path != fanout ] || set -- "$@" --depth $((n % 5 + 1))
                trial 0 --file "$work/f" --file "$work/g" --path $path --memory "$memory" --op $op --share $share "$@"
                echo "$path $memory $op $share $*" >>"$work/done"
                cat "$work/r.json" >>"$work/all"
            done
        done
    done
done
python3 - "$work/all" "$work/done" "$n" <<'END' || fail "a trial is not as it must be"
import json, sys
d, at, text, n, n_idle = json.JSONDecoder(), 0, open(sys.argv[1]).read(), 0, 0
names = open(sys.argv[2]).read().splitlines()
def must(truth, what):
    if not truth:
        sys.exit("%s: %s\n%s" % (names[n], what, json.dumps({k: r[k] for k in ("verify", "errors", "bytes", "notes")})))
while at < len(text):
    r, at = d.raw_decode(text, at)
    at += 1
    v, null = r["verify"], names[n].startswith("null")
    must(r["complete"] and not r["errors"], "incomplete")
    if not r["requests"] and "--seconds" in names[n]: # a busy machine gave it no time
        n += 1
        n_idle += 1
        continue
    must(r["requests"] > 0, "no request")
    must(null or r["requested"]["bytes"] in (0, r["bytes"]), "bytes")
    must(v["status"] == (None if null else "ok"), "status")
    must(not null or "moves no bytes" in r["nulls"]["verify.status"], "reason")
    must(not v["blocks_bad"], "bad blocks")
    if null:
        must(r["bytes"] is None and r["observed"] is None, "bytes of null")
    else:
        must(sum(p["bytes"] for p in r["parts"]) == r["bytes"], "parts")
        must(r["observed"] == "host", "observed")
        reads = r["by_op"]["read"]["bytes"]
        if v["mode"] == "inline":
            must(v["bytes_timed_verified"] == reads, "inline sees each byte that is read")
        if r["by_op"]["write"]["bytes"]:
            must(v["bytes_pass_verified"] > 0, "what was written is read back")
        elif v["mode"] == "sample" and v["pass"] == "same path": # else it reads back writes behind the window
            must(v["bytes_pass_verified"] == 3 << 20, "the pass sees the range")
    n += 1
sys.exit(n != int(sys.argv[3]) or n_idle > n / 10)
END
