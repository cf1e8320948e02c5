#!/bin/sh
# SPDX-License-Identifier: MIT
# Threads are dealt to several GPUs in turn, and each GPU gets its own bytes; a worker sees only the GPUs of its job, and
# calls them by the numbers that were asked for. What the links carried is sampled, and is null where it was not.
. "$(dirname "$0")/run_lib.sh"
requires_fake_cuda
export FAKE_CUDA_DEVICES=3

prepared f 4M
uuid="GPU-fa112233-4455-6677-8899-aabbccddee" # of number 0 it ends in ff, of 1 in 00, of 2 in 01
set -- --file "$work/f" --memory cuda:2,0 --threads 4 --verify inline
for seconds in 2100ms 5s 15s; do # of a window with samples enough: a busy machine takes fewer
    trial 0 "$@" --seconds $seconds --warmup 0s
    grep -q "window was too short: fewer than 3 samples" "$work/r.json" || break
done
holds '[p["memory"] for p in r["parts"]] == ["cuda:2", "cuda:0"] * 2' 'all(p["bytes"] > 0 for p in r["parts"])' \
    'r["verify"]["status"] == "ok"' "[g['uuid'] for g in r['effective']['memory']['gpus']] == ['${uuid}01', '${uuid}ff']" \
    'r["effective"]["memory"]["name"] == "cuda:2,0"' 'len(r["gpu_links"]) == 2' \
    'all(g["pcie_received_bytes_per_second"]["mean"] == 3e9 and g["pcie_sent_bytes_per_second"]["max"] == 10**9 and
        g["utilisation_percent"] is None for g in r["gpu_links"])' \
    '"nvmlDeviceGetUtilizationRates" in r["nulls"]["gpu_links[1].utilisation_percent"]'
mkdir -p "$work/root/proc/driver/nvidia/gpus/0" "$work/root/proc/driver/nvidia/gpus/1" "$work/root/proc/driver/nvidia/gpus/2"
export SPUR_ROOT="$work/root"
trial 0 "$@" --bytes 4M
holds "[g['uuid'] for g in r['effective']['memory']['gpus']] == ['${uuid}01', '${uuid}ff']" \
    '[g["name"] for g in r["effective"]["memory"]["gpus"]] == ["cuda:2", "cuda:0"]' \
    '[g["pci_address"][5:7] for g in r["effective"]["memory"]["gpus"]] == ["da", "db"]' \
    'r["gpu_links"][0]["pcie_received_bytes_per_second"] is None' 'r["parts"][0]["memory"] == "cuda:2"'
trial 0 --file "$work/f" --memory cuda:1 --bytes 4M
holds "r['effective']['memory']['uuid'] == '${uuid}00' and r['effective']['memory']['name'] == 'cuda:1'"
CUDA_VISIBLE_DEVICES=2,1 trial 0 --file "$work/f" --memory cuda:1 --bytes 4M
holds "r['effective']['memory']['uuid'] == '${uuid}00' and r['effective']['memory']['pci_address'][5:7] == 'da'"
refused 3 "cuda:3: no such GPU; this process sees 3" --file "$work/f" --memory cuda:1,3 --threads 2
refused 2 "named twice" --file "$work/f" --memory cuda:1,1 --threads 2
refused 2 "more GPUs than threads" --file "$work/f" --memory cuda:1,2 --threads 1
refused 2 "cannot lie on several" --file "$work/f" --memory cuda:1,2 --threads 2 --share buffer
refused 2 "number of a GPU" --file "$work/f" --memory cuda:1, --threads 2
# In spur compare commas divide values: several GPUs are one in double quotes, and what is missing is said.
plan() { # CODE OPTIONS...
    plan_code=$1
    shift
    expect "$plan_code" "$SPUR" compare --file "$work/f" --results "$work/r.db" --dry-run --threads 2 --request 64K "$@"
}
plan 0 --arm 'two:path=odirect,memory="cuda:0,1"' --arm one:path=odirect,memory=cuda:0
says out "arm two: path=odirect, memory=cuda:0,1"
plan 0 --arm odirect --arm fanout --memory 'cuda:0,"cuda:0,1"'
says out "axis memory: cuda:0, cuda:0,1"
for wrong in "--arm fanout --memory cuda:0,1" "--arm two:path=odirect,memory=cuda:0,1"; do
    # shellcheck disable=SC2086
    plan 2 --arm odirect $wrong
    one_line
    says err '"cuda:0,1"'
done
