#!/bin/sh
# SPDX-License-Identifier: MIT
# With --root nothing of this machine is looked at: no library is loaded, and no link leads out of the root.
. "$(dirname "$0")/doctor_lib.sh"

copy nvme-ext4
expect 0 env CUFILE_FORCE_COMPAT_MODE=true SPUR_LIBCUDA=/no/such SPUR_ROOT=/no/such "$SPUR" doctor --json --root "$work/m"
holds "verdict()['road'] == 'nvidia-fs' and verdict()['basis'] == 'inferred'" "r['recorded']" "not r['simulated']" \
    "not found('cufile-env', 'note')"
echo secret 1.2.3 >"$work/outside"
ln -sf "$work/outside" "$work/m/proc/sys/kernel/osrelease"
ln -sfn "$work" "$work/m/sys/class/nvme"
expect 0 "$SPUR" doctor --json --root "$work/m"
says_not out secret
command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null || exit 0
traced "$work/trace" -e trace=open,openat,openat2,execve -- "$SPUR" doctor --root "$work/m" >/dev/null
! grep -E 'libcuda|libcufile|"/(proc/driver|sys/bus|run/udev|etc/cufile)' "$work/trace" | grep -v RESOLVE_IN_ROOT || fail "this machine was looked at"
