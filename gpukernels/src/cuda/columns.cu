// columns.cu: the library kernels that bring columns into the form of stored ones. All of them are bound by the memory that they read.
#include <cuda_runtime.h>

#include "device.h"
#include "groups.h"

namespace {

constexpr int range_block = 1024; // a block computes the range of a group
constexpr int block = 256;
constexpr int64_t tile = 8192; // items that a block narrows

struct Partial {
  int64_t low, high; // comparable
  long long nulls;
  int descending, unordered;

  __device__ void add(const Partial& o) {
    low = min(low, o.low);
    high = max(high, o.high);
    nulls += o.nulls;
    descending |= o.descending;
    unordered |= o.unordered;
  }
};

__device__ Partial of_lane(const Partial& p, int offset) {
  constexpr unsigned all = 0xffffffffu;
  return Partial{__shfl_down_sync(all, p.low, offset), __shfl_down_sync(all, p.high, offset), __shfl_down_sync(all, p.nulls, offset),
                 __shfl_down_sync(all, p.descending, offset), __shfl_down_sync(all, p.unordered, offset)};
}

__device__ void add_lanes(Partial& p) {
  for (int offset = 16; offset > 0; offset /= 2) p.add(of_lane(p, offset));
}

template <int ORDER>
__global__ void __launch_bounds__(range_block) ranges_kernel(const int64_t* __restrict__ items, const uint8_t* __restrict__ valid, int64_t count, int64_t group_rows,
                                                             radish_gpu_range* __restrict__ ranges) {
  const Partial none{INT64_MAX, INT64_MIN, 0, 0, 0};
  int64_t from = blockIdx.x * group_rows, end = min(from + group_rows, count);
  Partial p = none;
  for (int64_t i = from + threadIdx.x; i < end; i += range_block) {
    int64_t x = items[i];
    if (i > from && descends<ORDER>(items[i - 1], x)) p.descending = 1;
    if (valid && !valid[i]) {
      p.nulls++;
    } else if (ORDER == RADISH_FLOAT_ORDER && is_nan(x)) {
      p.unordered = 1;
    } else {
      p.low = min(p.low, comparable<ORDER>(x));
      p.high = max(p.high, comparable<ORDER>(x));
    }
  }
  __shared__ Partial warps[range_block / 32];
  add_lanes(p);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = p;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  p = warps[threadIdx.x];
  add_lanes(p);
  if (threadIdx.x == 0)
    ranges[blockIdx.x] = radish_gpu_range{comparable<ORDER>(p.low), comparable<ORDER>(p.high), int64_t(p.nulls), p.descending ? 0 : 1, p.unordered};
}

template <typename T>
__device__ void narrow(unsigned char* dst, const int64_t* items, const uint8_t* valid, int64_t first, int64_t from, int64_t end, const radish_gpu_frame& f) {
  T* out = reinterpret_cast<T*>(dst + f.at);
  for (int64_t i = from + threadIdx.x; i < end; i += block)
    out[i - first] = T(valid && !valid[i] ? f.null_item : int64_t(uint64_t(items[i]) - uint64_t(f.base)));
}

__global__ void __launch_bounds__(block) narrow_kernel(const int64_t* __restrict__ items, const uint8_t* __restrict__ valid, int64_t count, int64_t group_rows, int64_t tiles,
                                                       const radish_gpu_frame* __restrict__ frames, unsigned char* __restrict__ dst) {
  int64_t group = blockIdx.x / tiles, first = group * group_rows;
  int64_t from = first + blockIdx.x % tiles * tile;
  int64_t end = min(min(from + tile, first + group_rows), count);
  const radish_gpu_frame f = frames[group];
  switch (f.width) {
    case 1: return narrow<uint8_t>(dst, items, valid, first, from, end, f);
    case 2: return narrow<uint16_t>(dst, items, valid, first, from, end, f);
    case 4: return narrow<uint32_t>(dst, items, valid, first, from, end, f);
    case 8: return narrow<uint64_t>(dst, items, valid, first, from, end, f);
  }
}

__global__ void __launch_bounds__(block) pack_kernel(const uint8_t* __restrict__ src, int64_t count, uint32_t* __restrict__ dst) {
  int64_t words = (count + 31) / 32, stride = int64_t(gridDim.x) * block;
  for (int64_t at = int64_t(blockIdx.x) * block + threadIdx.x; at / 32 < words; at += stride) {
    unsigned word = __ballot_sync(0xffffffffu, at >= count || src[at] != 0);
    if (at % 32 == 0) dst[at / 32] = word;
  }
}

} // namespace

RADISH_API radish_gpu_kind radish_gpu_group_ranges(radish_gpu_stream* stream, uint64_t items, uint64_t valid, int32_t order, int64_t count, int64_t group_rows,
                                                   uint64_t ranges, radish_gpu_error* err) {
  return guarded(err, [&] {
    check_groups(count, group_rows);
    stream->device->use();
    if (count == 0) return;
    int64_t groups = (count + group_rows - 1) / group_rows;
    require(groups <= INT32_MAX, "too many groups");
    with_order(order, [&](auto is) {
      ranges_kernel<decltype(is)::value><<<unsigned(groups), range_block, 0, stream->stream>>>(
          reinterpret_cast<const int64_t*>(items), reinterpret_cast<const uint8_t*>(valid), count, group_rows, reinterpret_cast<radish_gpu_range*>(ranges));
    });
    stream->device->check(cudaGetLastError(), "launching the ranges of groups");
  });
}

RADISH_API radish_gpu_kind radish_gpu_group_narrow(radish_gpu_stream* stream, uint64_t items, uint64_t valid, int64_t count, int64_t group_rows, uint64_t frames,
                                                   uint64_t dst, radish_gpu_error* err) {
  return guarded(err, [&] {
    check_groups(count, group_rows);
    stream->device->use();
    if (count == 0) return;
    int64_t tiles = (group_rows + tile - 1) / tile, blocks = (count + group_rows - 1) / group_rows * tiles;
    require(blocks <= INT32_MAX, "too many groups");
    narrow_kernel<<<unsigned(blocks), block, 0, stream->stream>>>(reinterpret_cast<const int64_t*>(items), reinterpret_cast<const uint8_t*>(valid), count, group_rows, tiles,
                                                                  reinterpret_cast<const radish_gpu_frame*>(frames), reinterpret_cast<unsigned char*>(dst));
    stream->device->check(cudaGetLastError(), "launching the narrowing of groups");
  });
}

RADISH_API radish_gpu_kind radish_gpu_pack_bits(radish_gpu_stream* stream, uint64_t src, int64_t count, uint64_t dst, radish_gpu_error* err) {
  return guarded(err, [&] {
    check_groups(count, 1);
    stream->device->use();
    if (count == 0) return;
    int64_t blocks = (count + block - 1) / block;
    pack_kernel<<<unsigned(blocks < 8192 ? blocks : 8192), block, 0, stream->stream>>>(reinterpret_cast<const uint8_t*>(src), count, reinterpret_cast<uint32_t*>(dst));
    stream->device->check(cudaGetLastError(), "launching the packing of bits");
  });
}
