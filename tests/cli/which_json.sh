#!/bin/sh
# SPDX-License-Identifier: MIT
# The JSON has the documented keys and no others, each somewhere; it is UTF-8 whatever the names.
. "$(dirname "$0")/which_lib.sh"

site=v/lib/python3.12/site-packages
mkdir -p "$work/v/bin"
printf 'home = /gone\nversion = 3.12\n' >"$work/v/pyvenv.cfg"
so $site/nvidia/cufile/lib/libcufile.so.1.16.0
so $site/t/t.so -L"$work/$site/nvidia/cufile/lib" -l:libcufile.so.1.16.0 "-Wl,-rpath,\$ORIGIN/../nvidia/cufile/lib"
so $site/bundle/libcufile.so.0 # a version that nobody tells
so $site/bundle/libcufile.so.1.99.0
mkdir "$work/$site/said" "$work/$site/torn"
so $site/said/libcufile.so.0 # versions that only a string tells; two of them are none
printf '\000x1.2.3.4\0001.17.3.44\0001.5.6\000127.0.0.1\000' >>"$work/$site/said/libcufile.so.0"
so $site/torn/libcufile.so.0
printf '\0001.17.3.44\0001.17.3.45\000' >>"$work/$site/torn/libcufile.so.0"
echo text >"$work/$site/bundle/libcufile.so.1.15.0"
# A short name in code, as a compiler puts it there.
printf '%s' 'int f(void) { __asm__(".ascii \"libcufil....e.so.0\""); return 0; }' |
    cc -shared -fPIC -nostdlib -x c -o "$work/$site/t/u.so" -
package $site nvidia-cufile 1.16.0
package $site t 1 'Requires-Dist: nvidia-cufile[x]==1.16.0'
printf 'nvidia/cufile/lib/libcufile.so.1.16.0,,\n' >"$work/$site/nvidia-cufile-1.16.0.dist-info/RECORD"
printf 't/t.so,,\n' >"$work/$site/t-1.dist-info/RECORD"
odd=$(printf 'caf\351')
so "$site/$odd/libcufile.so.1.7.0"
mkdir "$work/broken"
echo text >"$work/broken/libcufile.so.0"

answer 0 --python "$work/v" --library-path "$work/broken"
cp "$work/a.json" "$work/1.json"
holds 'any("caf\\xe9" in l["file"] for l in libs)'
holds '[l["known_reason"] for l in libs if l["version"] == "1.99.0"][0].startswith("not known to this table of 20")'
holds '[l["version"] for l in libs if "/said/" in l["file"] or "/torn/" in l["file"]].count("1.17.3.44") == 1'
holds '[l["version_least"] for l in libs if l["file"].endswith("bundle/libcufile.so.0")] == ["1.0"]'
answer 3 --command "$(command -v cat)"
cp "$work/a.json" "$work/2.json"
echo '#include <unistd.h>
const char *name = "libcufile.so.77"; int main(void) { pause(); }' | cc -x c -o "$work/p" -
"$work/p" &
trap 'kill $!; rm -rf "$work"' EXIT
wait_until grep -qs "$work/p" /proc/$!/maps
answer 3 --pid $!
holds 'uses[0]["object_loaded"] and uses[0]["name"] == "libcufile.so.77"'
cp "$work/a.json" "$work/3.json"
python3 - "$root/docs/which.md" "$work"/[123].json <<'END' || fail "docs/which.md and the answers differ"
import json, re, sys
rows = {m[1]: m[2] for m in re.finditer(r"^\| `([a-z_\[\].0-9]+)` \| [a-z]+ \| (.*) \|$", open(sys.argv[1]).read(), re.M)}
seen = set()
def walk(value, name):
    if isinstance(value, dict):
        for key, inner in value.items():
            walk(inner, name + "." + key if name else key)
    elif isinstance(value, list):
        seen.add(name)
        for inner in value:
            walk(inner, name + "[]")
    elif not (value is None and name.rsplit(".", 1)[-1] in ("known", "package")):
        seen.add(name)
for f in sys.argv[2:]:
    walk(json.load(open(f, encoding="utf-8")), "")
seen = {re.sub(r"(\[\])+$", "", n) for n in seen}
extra, missing = seen - set(rows), set(rows) - seen - {"applications[].libraries[].sha256_reason"}
print(sorted(extra), "not documented;", sorted(missing), "never there", file=sys.stderr)
sys.exit(bool(extra or missing))
END
