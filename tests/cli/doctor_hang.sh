#!/bin/sh
# SPDX-License-Identifier: MIT
# A mount whose server never answers is reported as hanging; doctor goes on and ends.
. "$(dirname "$0")/doctor_lib.sh"
requires_root "mounting"
[ -e /dev/fuse ] || skip "no /dev/fuse"
unshare -m true 2>/dev/null || skip "unshare -m is not allowed here"

mkdir "$work/hung"
echo data >"$work/f"
cat >"$work/mount.py" <<'PYTHON'
import ctypes, os, subprocess, sys
fd = os.open('/dev/fuse', os.O_RDWR)
libc = ctypes.CDLL(None, use_errno=True)
options = b'fd=%d,rootmode=40000,user_id=0,group_id=0' % fd
if libc.mount(b'hung', sys.argv[1].encode(), b'fuse', 0, options):
    sys.exit(77)
code = subprocess.call(sys.argv[2:])  # nobody reads the descriptor
os.close(fd)
sys.exit(code)
PYTHON
# A library and a cufile.json there hang as well.
hung=$work/hung
export SPUR_LIBCUFILE="$hung/lib.so" CUFILE_ENV_PATH_JSON="$hung/cufile.json"
code=0
unshare -m python3 "$work/mount.py" "$work/hung" "$SPUR" doctor --json "$work/hung/x" "$work/f" >"$work/out" 2>"$work/err" || code=$?
[ $code -ne 77 ] || skip "FUSE cannot be mounted here"
[ $code -eq 3 ] || fail "exit code $code"
holds "'hangs' in verdict(0)['reason'] and verdict(0)['exit'] == 3" "verdict(1)['exit'] == 4" \
    "found('mount')[0]['where'].endswith('/hung')" "'umount' in found('file', 'fail')[0]['remedy']" \
    "'its mount hangs' in found('cufile-json', 'fail')[0]['found']" "found('library', 'fail')[0]['where'].endswith('/hung/lib.so')"
