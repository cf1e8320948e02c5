#!/bin/sh
# SPDX-License-Identifier: MIT
# --cpus binds every thread of the trial; what it cannot do is said.
. "$(dirname "$0")/run_lib.sh"
requires_fake_cuda
unset SPUR_LIBCUDA

prepared f 1M
trial 0 --file "$work/f" --path fanout --cpus 0 --threads 2 --bytes 1M --request 64K
holds "r['environment']['begin']['cpu']['allowed'] == 1 and r['requested']['cpus'] == '0'"
refused 2 "is no list" --file "$work/f" --cpus 0-
refused 2 "is no list" --file "$work/f" --cpus 3-1
refused 2 "not all of them" --file "$work/f" --cpus 1000
refused 2 "near: memory" --file "$work/f" --memory emulated --cpus near

SPUR_LIBCUDA=$SPUR_FAKE_CUDA
export SPUR_LIBCUDA
trial 0 --file "$work/f" --memory cuda:0 --bytes 1M --request 64K
address=$(python3 -c "import json; print(json.load(open('$work/r.json'))['effective']['memory'].get('pci_address', '').lower())")
[ -n "$address" ] || fail "the fake GPU has no PCI address"
refused 1 "does not tell which CPUs are near" --file "$work/f" --memory cuda:0 --cpus near
