#!/bin/sh
# SPDX-License-Identifier: MIT
# For names that a program gives to dlopen the file that is named is the one that dlopen really gives.
. "$(dirname "$0")/which_lib.sh"

for folder in run lp pre; do so $folder/libcufile.so.0; done
cat >"$work/p.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
int main(void)
{
    struct link_map *m = dlopen("libcufile.so.0", RTLD_NOW);
    puts(m ? m->l_name : "");
    return 0;
}
END
build() { # PROGRAM OPTIONS...
    name=$1
    shift
    cc -o "$work/$name" "$work/p.c" -Wl,--no-as-needed "$@" -ldl || fail "cc"
}
build plain
build runpath "-Wl,-rpath,\$ORIGIN/run"
build rpath -Wl,--disable-new-dtags "-Wl,-rpath,\$ORIGIN/run"
build needs -L"$work/pre" -l:libcufile.so.0 -Wl,--disable-new-dtags "-Wl,-rpath,\$ORIGIN/pre"
# Opened by a library that would not find it: the program's RUNPATH is not its own; but the program needs it too.
sed 's/^int main/int open_it/' "$work/p.c" | cc -shared -fPIC -x c -o "$work/libopen.so" - -Wl,-soname,libopen.so -ldl
for name in alone both; do
    [ $name = both ] && more="-L$work/pre -l:libcufile.so.0" || more=
    # shellcheck disable=SC2086
    echo 'int open_it(void); int main(void) { return open_it(); }' | cc -x c -o "$work/$name" - -x none -Wl,--no-as-needed \
        "$work/libopen.so" $more -Wl,--enable-new-dtags "-Wl,-rpath,\$ORIGIN:\$ORIGIN/pre" || fail "cc"
done

same() { # PROGRAM [LD_LIBRARY_PATH]
    real=$(LD_LIBRARY_PATH=${2-} "$work/$1")
    [ -z "$real" ] && code=3 || code=0
    expect $code "$SPUR" which --command "$work/$1" ${2+--library-path "$2"}
    said=$(sed -n 's/^  file  *//p' "$work/out")
    [ "$said" = "${real:+$(realpath "$real")}" ] || fail "$1, LD_LIBRARY_PATH=${2-}: dlopen gives '$real'"
}
same plain
reads "asks for libcufile, but would find none"
same plain "$work/lp"
reads "would be loaded when it opens it"
same runpath
same runpath "$work/lp"
same rpath
same rpath "$work/lp"
same needs "$work/lp" # it is loaded already, so the search is not made
reads "would be loaded at its start"
same alone
reads "asks for libcufile, but would find none"
same both
says_not out "not found"
same both "$work/lp"
