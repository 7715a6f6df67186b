#!/bin/bash
# Builds, tests and measures the GPU backend on a host with a GPU, from an unpacked bundle (make gpu-bundle) or a source tree with
# bin/ beside it. Go is not needed, NVIDIA's driver is, and NVRTC, which is part of the CUDA toolkit: where there is none, rebuild brings it
# from PyPI. Logs go to $OUT, or ./out; a summary is printed. The exit status is 0 if all steps that ran passed.
#
#   run.sh [STEP...]            default: info build test sanitize bench
#     info       driver, GPU, compilers
#     build      libradish_gpu.so (skipped if the bundle brought one; rebuild: always)
#     test       the test programs, on the emulated device (which needs g++) and on the GPU
#     sanitize   compute-sanitizer memcheck, racecheck and initcheck (or TOOLS) over the library's and the operators' tests
#     micro      transfers, launches, allocations, sorts
#     compile    the kernels of TPC-H compiled by 0, 1, 2, ... processes (PROCESSES="0,8"): all at once, each query's alone, 16 sessions at once
#     bench      TPC-H on the GPU, answers checked: SF=1 (default) ...
#   JOBS=processes side by side in sanitize (default: one a core)   WARM= leaves out its run without a sanitizer
#   TEST=regexp   only these tests   SF="1 10"   scale factors of bench   LIMIT=seconds of one step (default 540)
#   DEVICES=all|cuda|emulated   what the tests run on   BENCH="..."   more options for radish-bench tpch
set -uo pipefail
cd "$(dirname "$0")"
here=$PWD
export OUT=${OUT:-$here/out}
mkdir -p "$OUT" build
export RADISH_GPU_LIB=${RADISH_GPU_LIB:-$here/build/libradish_gpu.so}
limit=${LIMIT:-540}
steps=${*:-info build test sanitize bench}
status=0

# Runs a command with its output in a log of its own, and says in a line how it went. what: which of several with one log.
step() {
  local name=$1 start=$SECONDS rc
  shift
  timeout --kill-after=10 "$limit" "$@" >>"$OUT/$name.log" 2>&1
  rc=$?
  printf '%-28s %s in %d s: %s\n' "$name${what:+ $what}" "$([ $rc -eq 0 ] && echo passed || echo "FAILED ($rc)")" $((SECONDS - start)) "$(tail -n 1 "$OUT/$name.log" | cut -c 1-160)"
  [ $rc -eq 0 ] || status=1
  return $rc
}

# Runs a test program in its package's folder: in_package NAME.test FOLDER ARGUMENTS...
in_package() (
  program=$here/bin/$1
  cd "$here/$2" || exit 1
  shift 2
  echo "== $program $*"
  exec ${SANITIZER:-} "$program" "$@"
)
export -f in_package
export here

for s in $steps; do
  case $s in
    info)
      { cat commit; uname -srm; nproc; nvidia-smi; nvcc --version; g++ --version | head -n 1; compute-sanitizer --version; } >"$OUT/info.log" 2>&1
      nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>&1 | head -n 1
      ;;
    build)
      [ -f build/libradish_gpu.so ] || step build gpukernels/build.sh build
      ;;
    rebuild)
      step build gpukernels/build.sh build
      ;;
    test)
      while read -r name folder tests; do
        arguments=
        if [ "$name" = test-sqllogic.test ]; then
          arguments="-device gpu"
          [ "${DEVICES:-all}" = emulated ] && arguments="-device emulated"
        fi
        RADISH_TEST_DEVICE=${DEVICES:-all} RADISH_TEST_SECONDS=$((limit * 2 / 3)) what=$name step test bash -c "in_package $name $folder -test.count=1 -test.timeout=${limit}s ${VERBOSE:+-test.v} -test.run='${TEST:-$tests}' $arguments"
      done <bin/tests
      grep -hE '^\s*--- (FAIL|SKIP)|^panic|^fatal' "$OUT/test.log" | sort | uniq -c | sort -rn | head -n 40
      ;;
    sanitize)
      # What kernels are made of, once: every case of enginetest at one size (joins, aggregations, sorts, unions, limits), joins in partitions and
      # with sorted sides, runs of equal keys, sorts, resident columns, expressions, plans on both devices, failing allocations, 64 sessions,
      # and the library's own kernels. Left out: what loses the device on purpose, is cancelled, or only moves large arrays or compiles. The
      # seeds are fixed, and a run without a sanitizer comes first, so that kernels come from the cache. JOBS processes run side by side.
      # SANITIZE_SECONDS bounds the long tests, which say what they left out.
      export RADISH_TEST_SEED=1 RADISH_GPU_LINES=1 RADISH_TEST_DEVICE=cuda RADISH_TEST_SECONDS=${SANITIZE_SECONDS:-150}
      jobs=${JOBS:-$(nproc)}
      parts=$OUT/parts # a log for each process: what was said so far is there, if time runs out
      mkdir -p "$parts"
      for tool in ${WARM-warm} ${TOOLS:-memcheck racecheck initcheck}; do
        options="--tool $tool --error-exitcode 99 --print-limit 50 --target-processes all"
        [ $tool = memcheck ] && options="$options --leak-check no --report-api-errors no" # tests let allocations fail
        [ $tool = initcheck ] && options="$options --check-api-memory-access no" # values of NULLs and gaps between columns are copied, too
        sanitizer="compute-sanitizer $options"
        [ $tool = warm ] && sanitizer=
        start=$SECONDS n=100
        rm -f "$parts/$tool".* "$parts/failed"
        while read -r program shares tests; do
          folder=$(awk -v p="$program.test" '$1 == p { print $2 }' bin/tests)
          [ -n "$folder" ] || continue
          for share in $(seq 0 $((shares - 1))); do
            n=$((n + 1))
            while [ "$(jobs -pr | wc -l)" -ge "$jobs" ]; do wait -n; done
            (
              export OUT=$parts SANITIZER=$sanitizer RADISH_TEST_SHARE=$share/$shares
              what="$program ${tests:0:40} $share/$shares" step "$tool.$n" bash -c \
                "in_package $program.test $folder -test.v -test.short -test.count=1 -test.timeout=${limit}s -test.skip='DeviceLost|ConcurrentUploads|CompileForChips' -test.run='${TEST:-$tests}'" || touch "$parts/failed"
            ) </dev/null &
          done
        done <<'END'
exec-gpu-run 8 ^TestEngine$
exec-gpu-run 8 ^TestRadixJoins$
exec-gpu-run 3 ^TestSortedJoins$
exec-gpu-run 6 ^TestRunsOfKeysGroups$|^TestRadixChains$|^TestParts$
exec-gpu-run 4 ^TestFrequentKeys$|^TestFloatSums$|^TestVariances$|^TestRadixHashedKeys$
exec-gpu-run 1 ^TestRunsOfKeys$/^cuda$/^not
exec-gpu-run 1 ^TestRunsOfKeys$/^cuda$/^long
exec-gpu-run 1 ^TestRunsOfKeys$/^cuda$/^all
exec-gpu-run 1 ^TestRunsOfKeys$/^cuda$/^too
exec-gpu-run 1 ^(TestLocalTables|TestCrowdedBlocks)$
exec-gpu-run 1 ^(TestRuns|TestRunsInOrder|TestFullPartition|TestKeyFilters)$
exec-gpu-run 1 ^TestSortedRuns$/^cuda$/^as
exec-gpu-run 1 ^TestSortedRuns$/^cuda$/^in_pieces
exec-gpu-run 1 ^TestSortedRuns$/^cuda$/^in_too
exec-gpu-run 1 ^(TestSortedGroups|TestRadixGroups|TestRadixUnion|TestPartitionShares)$
exec-gpu-run 1 ^(TestSortsOfPackedKeys|TestSortManyColumns)$
exec-gpu-rowsort 1 ^TestSortRows$
exec-gpu-residency 1 ^(TestResident|TestResidencyShares|TestResidencyOutOfMemory)$
exec-gpu-results 1 ^TestDownload$
exec-gpu-codegen 1 ^TestEmitCases$
exec-gpu-tablelab 1 ^(TestOpen|TestChains)$
exec-gpu-hashlab 1 ^(TestLab|TestDevicesAgree)$
engine 1 ^TestSameOnGPU$
engine 1 ^(TestGPUVariances|TestGPUManySums|TestGPUSumsByPieces|TestGPUCountedSums|TestGPUMadeStrings)$
engine 1 ^(TestMixedPlans|TestErrorsOnGPU|TestGPUProfileCounts|TestGPUDecisions|TestGPUSameShape)$
engine 1 ^(TestGPUJoinPartitions|TestGPUJoinSorted|TestGPURuns|TestGPUStores|TestGPUStoresInserted)$
engine 1 ^(TestGPUOutOfMemory|TestGPUSessions)$
gpukernels-tests 1 .
END
        wait
        cat "$parts/$tool".*.log >"$OUT/$tool.log"
        [ -e "$parts/failed" ] && status=1
        printf '%s: %d s\n' "$tool" $((SECONDS - start))
        grep -hE 'ERROR SUMMARY|RACECHECK SUMMARY|left out for want|^ *--- (FAIL|SKIP)' "$OUT/$tool.log" | sed 's/^=* *//; s/^ *[a-z_]*.go:[0-9]*: //' | sort | uniq -c | sort -rn | head -n 40
        grep -h 'plans ran on' "$OUT/$tool.log" | awk '{ n += $2 } END { print n, "plans ran on the device" }'
      done
      unset RADISH_TEST_SEED RADISH_GPU_LINES RADISH_TEST_DEVICE RADISH_TEST_SECONDS
      ;;
    micro)
      step micro bash -c "in_package gpukernels-tests.test gpukernels/tests -test.run='^\$' -test.bench=. -test.benchtime=300ms"
      grep -h '^Benchmark' "$OUT/micro.log"
      ;;
    compile)
      for sf in ${SF:-1}; do
        step compile bin/radish-bench compile --device gpu --sf "$sf" --processes "${PROCESSES:-0,1,2,4,8,12,16}" --chip "${CHIP:-90}"
      done
      tail -n 20 "$OUT/compile.log"
      ;;
    bench)
      for sf in ${SF:-1}; do
        verify=
        [ -d "answers/sf$sf" ] && verify="--verify answers/sf$sf"
        step bench bin/radish-bench tpch --device gpu --sf "$sf" $verify ${BENCH:-}
      done
      tail -n 40 "$OUT/bench.log"
      ;;
    *)
      echo "unknown step $s" >&2
      exit 2
      ;;
  esac
done
exit $status
