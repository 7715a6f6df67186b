#!/bin/bash
# Builds libradish_gpu.so and radish-gpu-compiler into a folder (default: build/ of the source tree). Takes the nvcc of CUDA_HOME or of PATH if it is 12.4 or newer;
# where there is none, installs NVIDIA's wheels from PyPI (about 500 MB on disk) into FOLDER/cuda. No GPU and no driver are needed.
#
#   build.sh [FOLDER]
#   RADISH_GPU_ARCHS="80 90"   the chips that library kernels are compiled for; PTX of the last one serves newer chips
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/../build}
mkdir -p "$out"
out=$(cd "$out" && pwd)
archs=${RADISH_GPU_ARCHS:-80 90}
wheels="nvidia-cuda-nvcc nvidia-cuda-runtime nvidia-cuda-cccl nvidia-cuda-nvrtc nvidia-nvvm nvidia-cuda-crt"

# Says whether an nvcc is new enough.
usable() {
  local version
  version=$("$1" --version 2>/dev/null | sed -n 's/.*release \([0-9]*\)\.\([0-9]*\).*/\1 \2/p') || return 1
  [ -n "$version" ] || return 1
  set -- $version
  [ "$1" -gt 12 ] || { [ "$1" -eq 12 ] && [ "$2" -ge 4 ]; }
}

nvcc=
for candidate in ${CUDA_HOME:+"$CUDA_HOME/bin/nvcc"} "$(command -v nvcc || true)" /usr/local/cuda/bin/nvcc; do
  if [ -n "$candidate" ] && [ -x "$candidate" ]; then
    if usable "$candidate"; then nvcc=$candidate; break; fi
    echo "$candidate is older than 12.4: not used" >&2
  fi
done
if [ -z "$nvcc" ]; then
  site=$out/cuda/wheels
  nvcc=$site/nvidia/cu13/bin/nvcc
  if ! usable "$nvcc"; then
    echo "no nvcc 12.4 or newer in CUDA_HOME, PATH or /usr/local/cuda: installing NVIDIA's wheels into $out/cuda" >&2
    command -v python3 >/dev/null || { echo "that needs python3 with pip and venv; or install the CUDA toolkit (https://developer.nvidia.com/cuda-downloads)" >&2; exit 1; }
    rm -rf "$out/cuda"
    python3 -m venv "$out/cuda/venv"
    "$out/cuda/venv/bin/pip" install --quiet --no-cache-dir --no-deps --target "$site" $(for w in $wheels; do echo "$w==13.0.*"; done)
    usable "$nvcc" || { echo "the wheels' nvcc does not run: $nvcc" >&2; exit 1; }
  fi
fi
command -v g++ >/dev/null || { echo "nvcc needs g++ as the host's compiler" >&2; exit 1; }

home=$(cd "$(dirname "$nvcc")/.." && pwd)
flags=(-std=c++17 -O3 -lineinfo -cudart static --threads 0 -Xcompiler -fPIC,-fvisibility=hidden,-Wall,-Wextra -I "$here/include" -I "$here/src/common")
for dir in "$home/include/cccl" "$home/targets/x86_64-linux/include/cccl"; do [ -d "$dir" ] && flags+=(-I "$dir"); done
[ -d "$home/lib" ] && flags+=(-L "$home/lib")
for a in $archs; do flags+=(-gencode "arch=compute_$a,code=sm_$a"); last=$a; done
flags+=(-gencode "arch=compute_$last,code=compute_$last")
"$nvcc" "${flags[@]}" -shared -o "$out/libradish_gpu.so.new" "$here"/src/cuda/*.cpp "$here"/src/cuda/*.cu \
  -Xlinker "--version-script=$here/src/exports.map" -Xcompiler -static-libstdc++,-static-libgcc -ldl -lpthread -lrt
"$nvcc" -std=c++17 -O2 -cudart none -Xcompiler -Wall,-Wextra -I "$here/include" -I "$here/src/common" -o "$out/radish-gpu-compiler.new" \
  "$here/src/compiler/main.cpp" "$here/src/cuda/compiler.cpp" -Xcompiler -static-libstdc++,-static-libgcc -ldl -lpthread
mv "$out/radish-gpu-compiler.new" "$out/radish-gpu-compiler"
mv "$out/libradish_gpu.so.new" "$out/libradish_gpu.so"
echo "$out/libradish_gpu.so built by $nvcc"
