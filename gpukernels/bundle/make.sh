#!/bin/bash
# Packs what a host with a GPU and without Go needs to build, test and measure the GPU backend: the source tree as git has it
# (uncommitted changes included), the programs and test programs, libradish_gpu.so and radish-gpu-compiler if they are built, and TPC-H's answers if ../shared
# has them. Unpack it there and start run.sh.
#
#   make.sh [FOLDER]    writes FOLDER/radish-gpu-bundle.tar.xz (FOLDER: build)
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
out=${1:-build}
mkdir -p "$out"
out=$(cd "$out" && pwd)
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
bundle=$stage/radish-gpu-bundle
mkdir -p "$bundle/bin" "$bundle/build"

git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
  [ -f "$file" ] && printf '%s\0' "$file"
done | tar -c --null --files-from - | tar -x -C "$bundle"
cp gpukernels/bundle/run.sh "$bundle/run.sh"
for file in libradish_gpu.so radish-gpu-compiler; do
  [ -f "$out/$file" ] && cp "$out/$file" "$bundle/build/"
done
[ -d ../shared/tpch/answers ] && cp -r ../shared/tpch/answers "$bundle/answers"

export CGO_ENABLED=0 GOOS=linux GOARCH=${GOARCH:-amd64}
go build -buildvcs=auto -ldflags='-s -w' -o "$bundle/bin/" ./cmd/radish ./cmd/radish-bench # figures name the commit
# A test program, its folder, and which of its tests concern the GPU.
while read -r package tests; do
  name=${package//\//-}.test
  go test -c -ldflags='-s -w' -o "$bundle/bin/$name" "./$package"
  if [ -f "$bundle/bin/$name" ]; then echo "$name $package $tests" >>"$bundle/bin/tests"; fi
done <<'END'
gpukernels .
gpukernels/tests .
exec .
exec/gpu .
exec/gpu/codegen .
exec/gpu/hashlab .
exec/gpu/tablelab .
exec/gpu/residency .
exec/gpu/results .
exec/gpu/rowsort TestSortRows
exec/gpu/run .
engine Device|GPU|TPCH|Mistakes|MixedPlans|MemoryBudget|Calibrate|Distinct|ColumnsComeAhead
test/sqllogic TestScripts
END
# The fuzzer of random statements on both devices is in a module of its own.
go test -C test/oracle -c -ldflags='-s -w' -o "$bundle/bin/test-oracle-others.test" ./others
echo "test-oracle-others.test test/oracle/others TestDevices" >>"$bundle/bin/tests"
git rev-parse --short HEAD >"$bundle/commit"
git diff --quiet HEAD || echo "with uncommitted changes" >>"$bundle/commit"
# The programs share most of their text, and sorting puts the large ones side by side: a window that spans one of them packs the next one well.
tar -C "$stage" --sort=name -c radish-gpu-bundle | xz -T1 --lzma2=preset=1,dict=64MiB -c >"$stage/bundle.tar.xz"
mv "$stage/bundle.tar.xz" "$out/radish-gpu-bundle.tar.xz"
ls -l "$out/radish-gpu-bundle.tar.xz"
