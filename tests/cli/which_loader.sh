#!/bin/sh
# SPDX-License-Identifier: MIT
# For programs of every kind the file that is named is the one that the real loader takes.
. "$(dirname "$0")/which_lib.sh"

for folder in rp rn lp here; do so $folder/libcufile.so.0; done
so hw/glibc-hwcaps/x86-64-v2/libcufile.so.0
so hw/libcufile.so.0
for folder in bad32 badarm; do so $folder/libcufile.so.0; done
printf '\001' | dd of="$work/bad32/libcufile.so.0" bs=1 seek=4 conv=notrunc 2>/dev/null
printf '\050' | dd of="$work/badarm/libcufile.so.0" bs=1 seek=18 conv=notrunc 2>/dev/null
old=-Wl,--disable-new-dtags new=-Wl,--enable-new-dtags lib="-L$work/rp -l:libcufile.so.0"
# shellcheck disable=SC2086
{
    so mid/libmid.so $lib
    so midrun/libmid.so $lib $new "-Wl,-rpath,\$ORIGIN/../rn"
    program plain $lib
    program rpath $lib $old "-Wl,-rpath,$work/none:\$ORIGIN/rp"
    program runpath $lib $new "-Wl,-rpath,\${ORIGIN}/rn"
    program viarpath $old "-Wl,-rpath,\$ORIGIN/mid:\$ORIGIN/rp" "$work/mid/libmid.so"
    program viarunpath $new "-Wl,-rpath,\$ORIGIN/mid:\$ORIGIN/rn" "$work/mid/libmid.so"
    program own $old "-Wl,-rpath,\$ORIGIN/midrun:\$ORIGIN/rp" "$work/midrun/libmid.so"
    so far/away/libmid.so $lib $new "-Wl,-rpath,\$ORIGIN/../rn" # found by a link: $ORIGIN is the link's folder
    mkdir "$work/link" "$work/bin"
    ln -s ../far/away/libmid.so "$work/link/libmid.so"
    ln -s ../rpath "$work/bin/linked" # and of a program its file's
    program vialink $new "-Wl,-rpath,\$ORIGIN/link" "$work/far/away/libmid.so"
    program nodefault $lib -Wl,-z,nodefaultlib "-Wl,-rpath,\$ORIGIN/rn:/lib/\$PLATFORM:/usr/\$LIB:/\$LIB"
}

# same PROGRAM [LD_LIBRARY_PATH]: what ld.so says, and what spur says, with the rule.
same() {
    real=$(LD_TRACE_LOADED_OBJECTS=1 LD_LIBRARY_PATH=${2-} "$work/$1" 2>/dev/null |
        sed -n 's/^\t\(libcufile.so.0 => \)*\(.*libcufile.so.0\) (0x.*/\2/p')
    [ -z "$real" ] && code=3 || code=0
    expect $code "$SPUR" which --command "$work/$1" ${2+--library-path "$2"}
    said=$(sed -n 's/^  file  *//p' "$work/out")
    [ "$said" = "${real:+$(realpath "$real")}" ] || fail "$1, LD_LIBRARY_PATH=${2-}: the loader takes '$real'"
}
cd "$work/here" || exit 1
same plain
same plain "$work/lp"
same plain "$work/none:"
same plain "$work/none;$work/lp"
same plain "$work/none;$work/bad32:$work/badarm:$work/rn:$work/lp"
same plain "$work/hw"
same plain "\$ORIGIN/lp"
same rpath
same rpath "$work/lp"
reads "found by RPATH \$ORIGIN/rp"
reads "comes later in the search of $work/rpath (LD_LIBRARY_PATH $work/lp)"
same runpath
reads "found by RUNPATH \${ORIGIN}/rn"
same runpath "$work/lp"
reads "found by LD_LIBRARY_PATH $work/lp"
same viarpath
reads "found by RPATH \$ORIGIN/rp of $work/viarpath"
same viarpath "$work/lp"
same viarunpath
reads "asks for libcufile, but would find none"
same viarunpath "$work/lp"
same own
same own "$work/lp"
same nodefault
same vialink
[ -n "$real" ] || fail "the case is none"
same bin/linked
[ -n "$real" ] || fail "the case is none"
chmod u+s "$work/plain" # more rights than its user: LD_LIBRARY_PATH does not count
expect 3 "$SPUR" which --command "$work/plain" --library-path "$work/lp"
reads "it runs with more rights than its user"
