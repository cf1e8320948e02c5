#!/bin/sh
# SPDX-License-Identifier: MIT
# A process: what it has mapped, also when the file is gone since; what it would load; no right to look is said.
. "$(dirname "$0")/which_lib.sh"

so lib/libcufile.so.1.18.0
cp "$work/lib/libcufile.so.1.18.0" "$work/copy"
cat >"$work/p.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>
int main(int n, char **v)
{
    dlopen(n > 1 ? v[1] : "libcufile.so.9", RTLD_LAZY);
    close(1); /* says that it has */
    pause();
}
END
cc -o "$work/p" "$work/p.c" -ldl || fail "cc"
started() { # the process has opened it: its standard output is closed
    mkfifo "$work/pipe.$1"
    "$work/p" $2 >"$work/pipe.$1" &
    pid=$!
    cat "$work/pipe.$1"
    trap 'kill $pids; rm -rf "$work"' EXIT
    pids="${pids-} $pid"
}
started 1 "$work/lib/libcufile.so.1.18.0"
expect 0 "$SPUR" which --pid $pid
reads "process $pid (p): libcufile 1.18.0 is loaded"
reads "threads wait for each other"
reads "1.18.1 or later"
reads "$(sha256sum <"$work/copy" | cut -d' ' -f1)"
mv "$work/copy" "$work/lib/libcufile.so.1.18.0" # an upgrade under a running process
answer 0 --pid $pid
holds 'libs[0]["deleted"] and libs[0]["version"] == "1.18.0" and app["loaded"]'
expect 0 "$SPUR" which --pid $pid
reads "deleted or replaced since it was loaded"

started 2 "" # it has opened none, but its data has a name
answer 3 --pid $pid
holds 'not app["loaded"] and uses[0]["name"] == "libcufile.so.9" and uses[0]["file"] is None'
# LD_PRELOAD goes before an RPATH, for what the program needs too.
so run/libcufile.so.0
so pre/libcufile.so.0
echo '#include <unistd.h>
int cuFileDriverOpen(void); int main(void) { close(1); cuFileDriverOpen(); pause(); }' |
    cc -x c -o "$work/linked" - -x none -L"$work/run" -l:libcufile.so.0 -Wl,--disable-new-dtags "-Wl,-rpath,\$ORIGIN/run"
mkfifo "$work/pipe.3"
LD_PRELOAD=$work/pre/libcufile.so.0 "$work/linked" >"$work/pipe.3" &
pid=$!
pids="$pids $pid"
cat "$work/pipe.3"
answer 0 --pid $pid
holds 'taken == [work + "/pre/libcufile.so.0"]'
holds '{u["found_by"] for u in uses} == {"LD_PRELOAD"} and [u["how"] for u in uses if u["object"]] == ["needed"]'

# A copy under another name is one by what it is; a program that only asks for its functions is none.
so lib/libcufile.so.0
mv "$work/lib/libcufile.so.0" "$work/lib/mine.so"
started 4 "$work/lib/mine.so"
answer 0 --pid $pid
holds 'taken == [work + "/lib/mine.so"] and app["loaded"] and "by its SONAME" in app["notes"][0]'
echo 'int cuFileDriverOpen(void) { return 0; } int cuFileRead(void) { return 0; }' |
    cc -shared -fPIC -nostdlib -x c -o "$work/lib/bare.so" - || fail "cc"
started 5 "$work/lib/bare.so"
rm "$work/lib/bare.so"
expect 0 "$SPUR" which --pid $pid
reads "bare.so has another name; it is a libcufile by its functions (cuFileDriverOpen, cuFileRead)"
echo '__asm__(".type cuFileDriverOpen, %function; .type cuFileRead, %function");
int cuFileDriverOpen(void); int cuFileRead(void); int f(void) { return cuFileDriverOpen() + cuFileRead(); }' |
    cc -shared -fPIC -nostdlib -x c -o "$work/lib/asks.so" - || fail "cc"
echo 'int cuFileDriverOpen(void) { return 0; } int cuFileRead;' | cc -shared -fPIC -nostdlib -x c -o "$work/lib/data.so" - || fail "cc"
for other in asks data; do
    started $other "$work/lib/$other.so"
    grep -q "$other.so" /proc/$pid/maps || fail "$other.so is not loaded"
    answer 3 --pid $pid
    holds 'not app["loaded"] and not libs and not app["notes"]'
done

requires_root "to become another user"
requires setpriv
chmod 755 "$work"
cp "$SPUR" "$work/spur"
expect 1 setpriv --reuid 65534 --regid 65534 --clear-groups "$work/spur" which --pid $pid
one_line
says err "Permission denied"
says err "only its owner and root may look"
