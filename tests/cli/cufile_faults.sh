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
# What served a trial that failed is not judged: its requests under way are in one counter and not in the other.
FAKE_CUFILE_FAIL=cuFileRead:3:short=0 cufile 1 1.15.1.6 --set route=any
holds "r['served'] is None and 'failed' in r['nulls']['served']" "not any('fault' in n for n in r['notes'])"
# A pass is cut where it left something, not where its last request came late.
for request in 4M 256K; do
    FAKE_CUFILE_LATENCY_US=5000 trial 0 --file "$work/f" --path cufile --memory cuda:0 \
        --bytes 4M --set library="$(library 1.15.1.6)" --set route=compat --request $request --verify-limit 1ms
    mv "$work/r.json" "$work/$request.json"
done
cp "$work/4M.json" "$work/r.json"
holds "r['verify']['bytes_pass_verified'] == 4 << 20 and not any('was cut' in n for n in r['notes'])"
cp "$work/256K.json" "$work/r.json"
holds "0 < r['verify']['bytes_pass_verified'] < 4 << 20 and any('was cut' in n for n in r['notes'])"
FAKE_CUFILE_UDEV=missing cufile 3 1.15.1.6 --set route=compat
says err "5027"
if [ "$(stat -c %Hd "$work/f")" -eq 0 ]; then # a container's overlay, a tmpfs
    says err "is anonymous"
else
    says err "/run/udev/data/b"
    says err "ID_FS_USAGE"
fi
says err "spur doctor --check udev $work/f"
# A library that takes the process down is named, with how far it had come and the end of its log.
this="$(library 1.15.1.6) (cuFile 1.15.1.6)"
while IFS="|" read -r call words; do
    FAKE_CUFILE_FAIL=$call:1:abort cufile 1 1.15.1.6 --set route=compat </dev/null
    says err "killed by SIGABRT; $this$words; cufile.log: "
done <<END
load| was being loaded
cuFileDriverOpen|: its driver was being opened
cuFileHandleRegister| was in use
cuFileRead| was in use
END
holds "'$this was in use' in r['errors'][0]['detail']" "'fake:0 ' in r['library_log'][-1]"
ln -s "$(library 1.15.1.6)" "$work/libcufile.so.0"
FAKE_CUFILE_FAIL=load:1:abort LD_LIBRARY_PATH="$work" expect 1 "$SPUR" run --file "$work/f" --path cufile --memory cuda:0 \
    --bytes 1M --set route=any
says err "killed by SIGABRT; libcufile.so.0 (cuFile of unknown version) was being loaded"
# What it does when it is closed takes nothing from the result, which came before.
closes() { # RULE NOTE
    FAKE_CUFILE_FAIL=$1 cufile 0 1.15.1.6 --set route=compat --stall 700ms
    holds "r['complete'] and r['bytes'] == 4 << 20" "any('$2' in n and '$this' in n for n in r['notes'])"
}
closes cuFileDriverClose:1:abort 'crashed by SIGABRT while it closed down'
closes exit:1:abort ': its driver had been closed'
closes cuFileDriverClose:1:hang 'hung while it closed down, and was killed after 0.7 s'
closes exit:1:hang 'hung while it closed down, and was killed after 0.7 s'
FAKE_CUFILE_FAIL=cuFileDriverClose:1:hang expect 0 "$SPUR" run --file "$work/f" --path cufile --memory cuda:0 --bytes 1M \
    --set library="$(library 1.15.1.6)" --set route=any --stall 700ms
says out "note: the worker hung while it closed down"
FAKE_CUFILE_FAIL=cuFileRead:2:hang cufile 1 1.15.1.6 --set route=compat --stall 1s
says err "no request completed for 1 s"
says err "$this was in use"
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
