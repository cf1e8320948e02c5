#!/bin/sh
# SPDX-License-Identifier: MIT
# What cannot be asked or read is one line with the remedy, and the documented exit code.
. "$(dirname "$0")/which_lib.sh"

bad() { # CODE WORDS OPTIONS...
    code=$1 words=$2
    shift 2
    expect "$code" "$SPUR" which "$@"
    one_line
    says err "$words"
}
bad 2 "nothing is asked about; give --pid N"
bad 2 "exclude each other" --pid 1 --command ls
bad 2 "exclude each other" --pid 1 --root /
bad 2 "exclude each other" --command ls --python /usr
bad 2 "--pid" --pid 0
bad 1 "No such process" --pid 2147483647
bad 1 "not in PATH" --command no-such-program
bad 1 "No such file or directory" --python "$work/none"
bad 1 "No such file or directory" --root "$work/none"
bad 2 "no Python environment" --python "$work"
echo 'a text' >"$work/text"
chmod +x "$work/text"
bad 1 "no ELF file" --command "$work/text"
bad 1 "Not a directory" --root "$work/text"
bad 2 "no Python by its name" --python "$work/text"
head -c 100 "$(command -v cc)" >"$work/cut"
bad 1 "truncated" --command "$work/cut"
printf '#!/no/such/python\n' >"$work/script"
bad 1 "its interpreter /no/such/python is not there" --command "$work/script"
printf '#!%s/itself\n' "$work" >"$work/itself" # a script that is its own interpreter
bad 1 "no ELF file" --command "$work/itself"
ln -s a "$work/b"
ln -s b "$work/a"
bad 1 "Too many levels" --python "$work/a"
printf '\177ELF\001\001\001' >"$work/elf32"
head -c 60 /dev/zero >>"$work/elf32"
bad 1 "32-bit" --command "$work/elf32"
expect 3 "$SPUR" which --command cat # a program that has nothing to do with it is no error
says out "program cat: loads no cuFile"
