#!/bin/sh
# SPDX-License-Identifier: MIT
# A Python environment: which package brings cuFile, which pins it, whose RPATH finds it, what is known of it.
. "$(dirname "$0")/which_lib.sh"

site=venv/lib/python3.12/site-packages
OPEN=getpid program base/bin/python3.12
mkdir -p "$work/venv/bin"
ln -s "$work/base/bin/python3.12" "$work/venv/bin/python"
printf 'home = %s/base/bin\nversion = 3.12.1\n' "$work" >"$work/venv/pyvenv.cfg"
so $site/nvidia/cufile/lib/libcufile.so.0
so $site/torch/lib/libtorch_cuda.so -L"$work/$site/nvidia/cufile/lib" -l:libcufile.so.0 \
    -Wl,--disable-new-dtags "-Wl,-rpath,\$ORIGIN/../../nvidia/cufile/lib:\$ORIGIN"
package $site nvidia_cufile_cu12 1.13.1.3
package $site torch 2.9.1 'Requires-Dist: nvidia-cufile-cu12==1.13.1.3; platform_system == "Linux"'
package $site vllm 0.11.0 'Requires-Dist: torch==2.9.1'
echo 'nvidia/cufile/lib/libcufile.so.0,sha256=x,1' >"$work/$site/nvidia_cufile_cu12-1.13.1.3.dist-info/RECORD"
echo 'torch/lib/libtorch_cuda.so,sha256=x,1' >"$work/$site/torch-2.9.1.dist-info/RECORD"

mkdir "$work/cache" # as an installer that links every file
mv "$work/$site/torch/lib/libtorch_cuda.so" "$work/cache/1234"
ln -s "$work/cache/1234" "$work/$site/torch/lib/libtorch_cuda.so"

cd "$work" || exit 1
expect 0 "$SPUR" which --python venv
reads "python venv (Python 3.12): libcufile 1.13.1.3 would be loaded with torch"
reads "torch/lib/libtorch_cuda.so (torch 2.9.1) needs libcufile.so.0"
reads "found by RPATH \$ORIGIN/../../nvidia/cufile/lib"
reads "vllm 0.11.0 -> torch==2.9.1 -> nvidia-cufile-cu12==1.13.1.3 (pinned)"
reads "one piece at a time"
reads "an RPATH goes before LD_LIBRARY_PATH"
reads "$(sha256sum $site/nvidia/cufile/lib/libcufile.so.0 | cut -d' ' -f1)"
answer 0 --python venv/bin/python # by its python; by a script of it; a copy that the search does not come to
holds 'len(taken) == 1 and app["prefix"] == work + "/venv" and app["interpreter"] == work + "/base/bin/python3.12"'
printf '#!/usr/bin/env -S %s/venv/bin/python -u\n' "$work" >tool
chmod +x tool
so lp/libcufile.so.0
answer 0 --command './tool --epochs 3' --library-path "$work/lp"
holds 'taken == [work + "/venv/lib/python3.12/site-packages/nvidia/cufile/lib/libcufile.so.0"]'
holds '"LD_LIBRARY_PATH" in libs[1]["why_not"] and libs[1]["file"] == work + "/lp/libcufile.so.0"'

# CUDA 13: another name, another folder, through an extra; opened by a source by way of cuda.pathfinder.
rm -r "${work:?}/$site"
so $site/nvidia/cu13/lib/libcufile.so.0
package $site nvidia_cufile 1.18.0.66
package $site cuda_toolkit 13.3 'Requires-Dist: nvidia-cufile==1.18.0.66.*; extra == "cufile"'
package $site libkvikio_cu13 26.10 'Requires-Dist: cuda-toolkit[cufile]==13.*'
echo 'nvidia/cu13/lib/libcufile.so.0,,' >"$work/$site/nvidia_cufile-1.18.0.66.dist-info/RECORD"
mkdir -p $site/libkvikio
echo 'load_nvidia_dynamic_lib("cufile")' >$site/libkvikio/load.py
echo 'libkvikio/load.py,,' >$site/libkvikio_cu13-26.10.dist-info/RECORD
expect 0 "$SPUR" which --python venv
reads "libcufile 1.18.0.66 would be loaded when asked for by libkvikio_cu13"
reads "libkvikio_cu13 26.10 -> cuda-toolkit[cufile]==13.* ->"
reads "execution.parallel_io=false"

rm -r base venv/lib/python3.12/site-packages/libkvikio # its Python is gone, and nobody asks for cuFile
expect 3 "$SPUR" which --python venv
reads "loads no cuFile by itself, though there is one"
reads "its base Python is gone: $work/base/bin"
rm "$site/nvidia/cu13/lib/libcufile.so.0"
expect 3 "$SPUR" which --python venv
reads "package nvidia_cufile 1.18.0.66 is installed, but no libcufile of it is there"
