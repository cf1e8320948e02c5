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
says err "spur which: none: No such file"
expect 1 "$SPUR" which --command "A=B"

# Of several programs the first is looked at, and the rest is named; what a shell does before it counts.
program bin/asks -L"$work/one" -l:libcufile.so.0
for rest in "| wc" "&& $work/bin/asks" "; $work/bin/asks" "|| true" "& $work/bin/asks"; do
    answer 3 --command "LD_LIBRARY_PATH=$work/one cat $rest"
    holds "app['program'].endswith('/cat') and '($rest)' in app['notes'][0] and len(app['notes']) == 1"
done
so here/libcufile.so.0
cp "$work/bin/asks" "$work/here/asks"
for before in "cd $work/here &&" "cd $work; cd here;" "cd -- $work/here || exit 1;" "cd $work/here && exec" "env -C $work/here"; do
    answer 0 --command "export LD_LIBRARY_PATH=.; $before ./asks 2>&1 >$work/o </dev/null"
    holds 'taken == [work + "/here/libcufile.so.0"] and not app["notes"]'
done
wrong() { # CODE WORDS COMMAND
    expect "$1" "$SPUR" which --command "$3"
    one_line
    says err "$2"
}
wrong 2 "' is not closed" "ls 'unclosed"
wrong 2 "begins with an operator" "| ls"
wrong 2 "source may change what is loaded" "source x && ./asks"
wrong 2 "a shell's language" "if true; then ls; fi"
wrong 2 "no program follows it" "cd /"
wrong 1 "$work/none: No such file" "cd $work/none && ls"
wrong 1 "nothing is expanded" 'cd $HOME/x && ls'
