#!/bin/sh
# SPDX-License-Identifier: MIT
# An image at rest: links are followed within it and never out of it; environments, the cache and all copies are found.
. "$(dirname "$0")/which_lib.sh"

site=image/opt/venv/lib/python3.11/site-packages
so image/usr/local/cuda-12.4/lib64/libcufile.so.1.9.1 -Wl,-soname,libcufile.so.0
so image/opt/old/libcufile.so.1.4.0
so outside/libcufile.so.1.20.0
ln -s libcufile.so.1.9.1 "$work/image/usr/local/cuda-12.4/lib64/libcufile.so.0"
ln -s cuda-12.4 "$work/image/usr/local/cuda"
ln -s "$work/outside/libcufile.so.1.20.0" "$work/image/opt/libcufile.so.0"
ln -s ../../../../../../../../../outside "$work/image/opt/up"
mkdir -p "$work/image/etc" "$work/image/opt/venv/bin" "$work/image/usr/bin"
ln -s loop "$work/image/opt/loop"
OPEN=getpid program image/usr/bin/python3.11
ln -s /usr/bin/python3.11 "$work/image/opt/venv/bin/python" # absolute, in the image
printf 'home = /usr/bin\nversion = 3.11\n' >"$work/image/opt/venv/pyvenv.cfg"
so $site/kvikio/_lib/x.so -L"$work/image/usr/local/cuda/lib64" -l:libcufile.so.1.9.1 \
    -Wl,-rpath,/usr/local/cuda/lib64
package $site kvikio 24.1

answer 0 --root "$work/image"
holds '[x["kind"] for x in a["applications"]] == ["python", "image"] and app["name"] == "/opt/venv"'
holds 'app["interpreter"] == "/usr/bin/python3.11"'
holds 'taken == ["/usr/local/cuda-12.4/lib64/libcufile.so.1.9.1"] and libs[0]["version"] == "1.9.1"'
holds 'uses[0]["opened_as"].startswith("/usr/local/cuda/lib64") and uses[0]["found_by"] == "RUNPATH"'
holds '[l["file"] for l in a["applications"][1]["libraries"]] == ["/opt/old/libcufile.so.1.4.0"]'
holds '"1.20.0" not in [l["version"] for x in a["applications"] for l in x["libraries"]]' # outside
program image/opt/x/bin/gdsio -L"$work/image/opt/old" -l:libcufile.so.1.4.0 "-Wl,-rpath,\$ORIGIN/../../old"
answer 0 --root "$work/image" # a program, which nobody named
holds '[u["object"] for u in a["applications"][1]["uses"] if u["file"]] == ["/opt/x/bin/gdsio"]'
holds '[l["file"] for l in a["applications"][1]["libraries"] if l["taken"]] == ["/opt/old/libcufile.so.1.4.0"]'
expect 0 "$SPUR" which --root "$work/image" --library-path /usr/local/cuda/lib64
reads "libcufile 1.9.1 is what a program without an RPATH gets"
answer 3 --root "$work/image" --command /usr/bin/python3.11
holds 'app["kind"] == "python" and libs == [] and app["prefix"] == "/usr"'

mkdir "$work/empty" # nothing is made up of who might ask
answer 3 --root "$work/empty"
holds 'uses == [] and libs == []'
expect 3 "$SPUR" which --root "$work/empty"
reads "nothing in it asks for cuFile, and there is none"

# A cache that is damaged, or none, is said.
echo nonsense >"$work/image/etc/ld.so.cache"
expect 0 "$SPUR" which --root "$work/image"
reads "/etc/ld.so.cache: not in a known format"
requires_root "ldconfig -r changes the root"
[ -x /sbin/ldconfig ] || skip "ldconfig is not installed"
echo /usr/local/cuda/lib64 >"$work/image/etc/ld.so.conf"
rm "$work/image/etc/ld.so.cache" "$work/image/opt/venv/pyvenv.cfg"
/sbin/ldconfig -r "$work/image" 2>/dev/null || skip "ldconfig may not change its root"
answer 0 --root "$work/image"
holds '[(u["found_by"], u["file"]) for u in a["applications"][-1]["uses"] if not u["object"] and u["name"].endswith("0")] == [
    ("ld.so.cache", "/usr/local/cuda-12.4/lib64/libcufile.so.1.9.1")]'
