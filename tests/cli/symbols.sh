#!/bin/sh
# SPDX-License-Identifier: MIT
# libspur.so exports what include/spur.h declares, no more and no less, needs little, and can be used from C and C++.
. "$(dirname "$0")/lib.sh"
requires readelf "${CC:-cc}"

library=${LIBSPUR:?names the shared library}
folder=$(dirname "$library")
header=$root/include/spur.h
# What the preprocessor leaves is declarations alone: a name can stand on a line of its own or share one.
"${CC:-cc}" -E -P -x c "$header" >"$work/seen"
tr '\n' ' ' <"$work/seen" | grep -o '__attribute__((visibility("default")))[^(;]*(' | grep -o 'spur_[a-z0-9_]*($' |
    tr -d '(' | sort >"$work/declared"
[ "$(wc -l <"$work/declared")" -eq "$(grep -c '^SPUR_API ' "$header")" ] || fail "the header was not understood"
readelf -W --dyn-syms "$library" | awk '$5 ~ /GLOBAL|WEAK|UNIQUE/ && $7 != "UND" && $7 != "ABS" { sub(/@.*/, "", $8); print $8 }' |
    sort >"$work/exported"
cmp -s "$work/declared" "$work/exported" ||
    fail "declared (-) and exported (+) differ: $(diff "$work/declared" "$work/exported" | grep '^[<>]')"

readelf -d "$library" | grep -q 'SONAME.*\[libspur\.so\.0\]' || fail "its name is not libspur.so.0"
readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' >"$work/needed"
if grep -E 'jansson|hwloc|sqlite|cuda|cufile|nvidia' "$work/needed" >"$work/out"; then
    fail "it needs libraries that are the tool's affair"
fi

cat >"$work/use.c" <<'END'
#include <spur.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    struct spur_error error = {};
    struct spur_path_options options;
    struct spur_path *path = NULL;
    struct spur_file *file = NULL;
    struct spur_memory *memory = NULL;
    struct spur_buffer *buffer = NULL;
    struct spur_queue *queue = NULL;
    struct spur_request request;
    char bytes[5] = {0};

    memset(&options, 0, sizeof(options));
    memset(&request, 0, sizeof(request));
    options.size = sizeof(options);
    if (argc != 2 || spur_path_open("buffered", &options, &path, &error) ||
        spur_file_open(path, argv[1], 0, &file, &error) || spur_memory_open("pageable", &memory, &error) ||
        spur_buffer_alloc(memory, 4096, &buffer, &error) || spur_buffer_attach(path, buffer, &error) ||
        spur_queue_open(path, memory, 1, &queue, &error)) {
        fprintf(stderr, "%s: %s\n", error.operation, error.detail);
        return 1;
    }
    request.op = SPUR_OP_READ;
    request.file = file;
    request.length = 4;
    request.buffer = buffer;
    if (spur_queue_transfer(queue, &request, &error) != 4 || spur_buffer_read(buffer, 0, bytes, 4, &error))
        return 1;
    printf("%s %s\n", spur_version(), bytes);
    spur_queue_close(queue);
    spur_buffer_detach(path, buffer);
    spur_buffer_free(buffer);
    spur_memory_close(memory);
    spur_file_close(file);
    spur_path_close(path);
    return 0;
}
END
printf 'rail of the spur' >"$work/file"
for compiler in "${CC:-cc} -std=c11 -x c" "${CXX:-c++} -std=c++11 -x c++"; do
    command -v "${compiler%% *}" >/dev/null || skip "no C++ compiler (all else agrees)"
    # shellcheck disable=SC2086
    expect 0 $compiler -Wall -Werror -I"$root/include" -o "$work/use" "$work/use.c" -x none -L"$folder" -lspur
    expect 0 env LD_LIBRARY_PATH="$folder" "$work/use" "$work/file"
    says out "$("$SPUR" --version | sed -n 's/^spur \([0-9.]*\).*/\1/p') rail"
done
