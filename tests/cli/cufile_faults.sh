#!/bin/sh
# SPDX-License-Identifier: MIT
# Codes, short counts, crashes and hangs of the library: one failed trial each, named with cause and remedy.
. "$(dirname "$0")/cufile_lib.sh"

prepared f 4M
# A short count goes on where it ended.
FAKE_CUFILE_FAIL=cuFileRead:3:short=4096 cufile 0 1.15.1.6 --set route=compat --verify inline
holds "r['verify']['status'] == 'ok' and r['bytes'] == 4 << 20"
FAKE_CUFILE_FAIL=cuFileRead:3:5030 cufile 1 1.15.1.6 --set route=compat
says err "5030"
says err "$work/f"
holds "r['bytes_per_second'] is None"
FAKE_CUFILE_UDEV=missing cufile 3 1.15.1.6 --set route=compat
says err "5027"
says err "/run/udev/data/b"
says err "ID_FS_USAGE"
says err "spur doctor --check udev $work/f"
for call in load cuFileDriverOpen cuFileRead; do
    FAKE_CUFILE_FAIL=$call:1:abort cufile 1 1.15.1.6 --set route=compat
    says err "SIGABRT"
done
FAKE_CUFILE_FAIL=exit:1:abort cufile 0 1.15.1.6 --set route=compat # the result came before
holds "r['complete'] and r['bytes'] == 4 << 20" "any('crashed by SIGABRT while it closed down' in n for n in r['notes'])"
FAKE_CUFILE_FAIL=cuFileRead:2:hang cufile 1 1.15.1.6 --set route=compat --stall 1s
says err "no request completed for 1 s"
trial 3 --file "$work/f" --path cufile --memory cuda:0 --bytes 1M --set library="$work/none.so" --set route=any
says err "none.so"
trial 3 --file "$work/f" --path cufile --memory cuda:0 --bytes 1M --set library="$SPUR_FAKE_CUDA" --set route=any
mkfifo "$work/fifo" # nothing waits for its writer
trial 3 --file "$work/f" --path cufile --memory cuda:0 --bytes 1M --set library="$work/fifo" --set route=any
says err "$work/fifo: is a FIFO"
cufile 3 1.15.1.6 --set route=any --set json="$work/fifo"
says err "$work/fifo: is a FIFO"
cufile 3 1.15.1.6 --set route=any --set json="$work/fifo" --set json.execution.parallel_io=true
says err "$work/fifo: is a FIFO"
no_litter
