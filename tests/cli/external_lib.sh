# SPDX-License-Identifier: MIT
# What the tests of external programs share beyond run_lib.sh; to be sourced.
[ -n "${work:-}" ] || . "$(dirname "$0")/run_lib.sh"

# gdsio: a program that takes gdsio's options and prints its line, made up of what it was asked for;
# FAKE_GDSIO says what is wrong with it. It is no gdsio: its figures are its own invention.
stand_in() {
    cat >"$work/gdsio" <<'END'
#!/bin/sh
here=$(dirname "$0")
[ "$1" != -v ] || { echo "gdsio version :1.11"; exit; }
echo "$*" >>"$here/calls"
ls -l "${LD_LIBRARY_PATH%%:*}" >"$here/libraries" 2>/dev/null
echo "$CUFILE_ENV_PATH_JSON $CUDA_VISIBLE_DEVICES" >"$here/variables"
while [ $# -gt 0 ]; do
    case $1 in
    -w) w=$2 ;;
    -s) s=${2%K} ;;
    -i) i=${2%K} ;;
    -x) x=$2 ;;
    -I) io=$2 ;;
    -T) seconds=$2 ;;
    esac
    shift 2
done
type=READ
[ "$io" = 0 ] || type=RANDREAD
xfer=$(echo GPUD CPUONLY CPU_GPU CPU_ASYNC_GPU CPU_CACHED_GPU ASYNC GPU_BATCH GPU_BATCH_STREAM | cut -d ' ' -f $((x + 1)))
threads="Threads: $w"
[ "$x" != 6 ] || threads="Threads: 1 IoDepth: $w"
ops=$((seconds * 5000))
awk=$(awk -v ops=$ops -v i="$i" -v t="$seconds" -v w="$w" 'BEGIN { printf "%.6f %.6f", ops * i / 1048576 / t, t * w / ops * 1e6 }')
rate=${awk% *}
latency=${awk#* }
moved=$((ops * i))
case ${FAKE_GDSIO:-} in
hung) echo $$ >"$here/pid"; exec sleep 1000 ;;
crash) echo "cuda runtime api call failed" >&2; kill -SEGV $$ ;;
status) echo "unable to open file" ; exit 255 ;;
silent) exit ;;
old) echo "IoType: $type XferType: $xfer $threads DataSetSize: $moved/$s(KB) IOSize: $i(KB),Throughput: $rate GB/sec, Avg_Latency: $latency usecs ops: $ops total_time $((seconds * 1000000)).000000 usecs"; exit ;;
ops) ops=-2147483648 ;;
fewer) ops=$((ops - 1)) ;;
rate) rate=99.000000 ;;
set) s=$((s / 2)) ;;
xfer) xfer=CPUONLY ;;
negative) rate=-0.000116; seconds=-4319 ;;
words) latency=fast ;;
twice) echo "IoType: $type" ;;
more) tail=" and more" ;;
esac
echo "url index :0"
echo "IoType: $type XferType: $xfer $threads DataSetSize: $moved/$s(KiB) IOSize: $i(KiB) Throughput: $rate GiB/sec, Avg_Latency: $latency usecs ops: $ops total_time $seconds.000000 secs${tail:-}"
END
    chmod 755 "$work/gdsio"
}
