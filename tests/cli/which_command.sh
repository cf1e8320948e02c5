#!/bin/sh
# SPDX-License-Identifier: MIT
# A command as a shell reads it: assignments and env before the program count; of a shell or launcher it is said that it
# is looked at itself.
. "$(dirname "$0")/which_lib.sh"

so one/libcufile.so.0
so "a b/libcufile.so.0"
so bin/libcufile.so.0
mv "$work/bin/libcufile.so.0" "$work/pre.so"
program bin/asks -L"$work/one" -l:libcufile.so.0
env=$(command -v env)
# gives FILE COMMAND: it gets that one.
gives() {
    answer 0 --command "$2"
    file=$1
    holds "taken == [work + '/$file'] and app['name'] == '''$2''' and app['program'].endswith('/asks') and not app['notes']"
}
none() {
    answer 3 --command "$1"
    holds "not taken and app['program'].endswith('/asks')"
}
none "$work/bin/asks -x LD_LIBRARY_PATH=$work/one"
gives one/libcufile.so.0 "LD_LIBRARY_PATH=$work/one $work/bin/asks -x"
gives "a b/libcufile.so.0" "A=1 LD_LIBRARY_PATH=\"$work/a b\" $work/bin/asks"
gives "a b/libcufile.so.0" "LD_LIBRARY_PATH=$work/a\\ b PATH=$work/bin asks"
gives one/libcufile.so.0 "env LD_LIBRARY_PATH=$work/one $work/bin/asks"
gives one/libcufile.so.0 "A=1 $env -u LD_PRELOAD -C / -- LD_LIBRARY_PATH=$work/one PATH=$work/bin asks bash -c x"
gives one/libcufile.so.0 "env -vS \"LD_LIBRARY_PATH=$work/one $work/bin/asks\" more"
gives one/libcufile.so.0 "env --split-string=\"-i LD_LIBRARY_PATH=$work/one $work/bin/asks\""
export LD_LIBRARY_PATH="$work/one"
gives one/libcufile.so.0 "env --chdir=/ env $work/bin/asks"
none "env -i $work/bin/asks"
none "env - $work/bin/asks"
none "env -uLD_LIBRARY_PATH $work/bin/asks"
none "env --unset=LD_LIBRARY_PATH $work/bin/asks"
none "env --ignore-environment $work/bin/asks"
none "LD_LIBRARY_PATH= $work/bin/asks"
unset LD_LIBRARY_PATH
answer 0 --command "LD_PRELOAD=$work/pre.so LD_LIBRARY_PATH=$work/one $work/bin/asks"
holds 'taken'
for shell in "sh -c '$work/bin/asks'" "env A=B sh -c $work/bin/asks" "timeout 5 $work/bin/asks"; do
    answer 3 --command "$shell"
    holds '"itself: what it starts is not looked at" in app["notes"][0] and len(app["notes"]) == 1'
done
printf '#!/bin/sh\n%s/bin/asks\n' "$work" >"$work/bin/script"
chmod 755 "$work/bin/script"
expect 3 "$SPUR" which --command "$work/bin/script"
reads "itself: what it starts is not looked at; give that program to --command"
mv "$work/bin/asks" "$work/bin/asks A=B" # a file's whole name needs no quotes
expect 3 "$SPUR" which --command "$work/bin/asks A=B"
expect 1 "$SPUR" which --command "env none"
says err "env none: No such file"
expect 1 "$SPUR" which --command "A=B"
