// kernels.cu: the library kernels that are a loop over items, or one of CUB's scans.
#include <cuda_runtime.h>

#include <cub/device/device_scan.cuh>
#include <thrust/iterator/transform_iterator.h>

#include "device.h"

namespace {

constexpr int block = 256;

// A grid that fills the chip several times over; the kernels stride.
unsigned grid_for(int64_t items) {
  int64_t blocks = (items + block - 1) / block;
  return unsigned(blocks < 1 ? 1 : blocks > 4096 ? 4096 : blocks);
}

void check_count(int64_t count) { require(count >= 0 && count <= (int64_t(1) << 48), "a count that is negative or absurd"); }

__device__ int64_t first_item() { return int64_t(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ int64_t stride() { return int64_t(gridDim.x) * blockDim.x; }

template <typename T>
__global__ void fill_kernel(T* dst, T value, int64_t count) {
  for (int64_t i = first_item(); i < count; i += stride()) dst[i] = value;
}

template <typename T>
__global__ void gather_kernel(T* __restrict__ dst, const T* __restrict__ src, const uint32_t* __restrict__ index, int64_t count) {
  for (int64_t i = first_item(); i < count; i += stride()) dst[i] = src[index[i]];
}

__global__ void store_zero(uint64_t* dst) { *dst = 0; }

struct View {
  const unsigned char* data;
  int64_t size;
};

// A warp copies 32 strings at a time: it walks over their bytes in the output, and each lane finds the string of its byte.
__global__ void string_copy_kernel(const View* __restrict__ views, const int64_t* __restrict__ offsets, unsigned char* __restrict__ bytes, int64_t count) {
  int lane = int(threadIdx.x & 31);
  int64_t warps = stride() / 32;
  for (int64_t w = first_item() / 32; w * 32 < count; w += warps) {
    int64_t i = w * 32 + lane;
    View v = i < count ? views[i] : View{nullptr, 0};
    int64_t begin = i < count ? offsets[i] : offsets[count];
    int64_t first = __shfl_sync(0xffffffffu, begin, 0);
    int64_t end = __shfl_sync(0xffffffffu, begin + v.size, 31);
    for (int64_t from = first; from < end; from += 32) {
      int64_t at = from + lane;
      int which = 0; // the last string that begins at or before the byte; empty ones lie before it
#pragma unroll
      for (int step = 16; step > 0; step /= 2) {
        int64_t b = __shfl_sync(0xffffffffu, begin, which + step);
        if (b <= at) which += step;
      }
      auto data = __shfl_sync(0xffffffffu, reinterpret_cast<unsigned long long>(v.data), which);
      int64_t start = __shfl_sync(0xffffffffu, begin, which);
      if (at < end) bytes[at] = reinterpret_cast<const unsigned char*>(data)[at - start];
    }
  }
}

struct Widened {
  __host__ __device__ uint64_t operator()(uint32_t x) const { return x; }
};
struct SizeOf {
  __host__ __device__ uint64_t operator()(const View& v) const { return uint64_t(v.size); }
};

// out[0] = 0, out[i+1] = f(in[0]) + ... + f(in[i])
template <typename In, typename F>
void scan(radish_gpu_stream* stream, const In* in, F f, uint64_t* out, int64_t count) {
  radish_gpu_device* d = stream->device;
  store_zero<<<1, 1, 0, stream->stream>>>(out);
  d->check(cudaGetLastError(), "launching a scan");
  if (count == 0) return;
  auto values = thrust::make_transform_iterator(in, f);
  size_t bytes = 0;
  d->check(cub::DeviceScan::InclusiveSum(nullptr, bytes, values, out + 1, count, stream->stream), "planning a scan");
  Scratch scratch(stream, int64_t(bytes));
  d->check(cub::DeviceScan::InclusiveSum(scratch.get(), bytes, values, out + 1, count, stream->stream), "launching a scan");
}

template <typename T>
void fill(radish_gpu_stream* stream, uint64_t dst, uint64_t value, int64_t count) {
  fill_kernel<T><<<grid_for(count), block, 0, stream->stream>>>(reinterpret_cast<T*>(dst), T(value), count);
}

template <typename T>
void gather(radish_gpu_stream* stream, uint64_t dst, uint64_t src, uint64_t index, int64_t count) {
  gather_kernel<T><<<grid_for(count), block, 0, stream->stream>>>(reinterpret_cast<T*>(dst), reinterpret_cast<const T*>(src),
                                                                 reinterpret_cast<const uint32_t*>(index), count);
}

// Whether all bytes of the value's low width bytes are the same, and which.
bool one_byte(uint64_t value, int32_t width, int* byte) {
  *byte = int(value & 0xff);
  for (int i = 1; i < width; i++)
    if (int((value >> (8 * i)) & 0xff) != *byte) return false;
  return true;
}

} // namespace

RADISH_API radish_gpu_kind radish_gpu_fill(radish_gpu_stream* stream, uint64_t dst, uint64_t value, int32_t width, int64_t count, radish_gpu_error* err) {
  return guarded(err, [&] {
    check_count(count);
    if (width != 1 && width != 2 && width != 4 && width != 8) throw failure(RADISH_GPU_USER, "fill: width %d is none of 1, 2, 4, 8", width);
    radish_gpu_device* d = stream->device;
    d->use();
    if (count == 0) return;
    int byte;
    if (one_byte(value, width, &byte)) {
      d->check(cudaMemsetAsync(reinterpret_cast<void*>(dst), byte, size_t(count) * size_t(width), stream->stream), "filling memory");
      return;
    }
    switch (width) {
      case 2: fill<uint16_t>(stream, dst, value, count); break;
      case 4: fill<uint32_t>(stream, dst, value, count); break;
      case 8: fill<uint64_t>(stream, dst, value, count); break;
    }
    d->check(cudaGetLastError(), "launching a fill");
  });
}

RADISH_API radish_gpu_kind radish_gpu_exclusive_scan_u32_u64(radish_gpu_stream* stream, uint64_t in, uint64_t out, int64_t count, radish_gpu_error* err) {
  return guarded(err, [&] {
    check_count(count);
    stream->device->use();
    scan(stream, reinterpret_cast<const uint32_t*>(in), Widened(), reinterpret_cast<uint64_t*>(out), count);
  });
}

RADISH_API radish_gpu_kind radish_gpu_gather(radish_gpu_stream* stream, uint64_t dst, uint64_t src, uint64_t index, int32_t width, int64_t count,
                                             radish_gpu_error* err) {
  return guarded(err, [&] {
    check_count(count);
    stream->device->use();
    if (count == 0) return;
    switch (width) {
      case 1: gather<uint8_t>(stream, dst, src, index, count); break;
      case 2: gather<uint16_t>(stream, dst, src, index, count); break;
      case 4: gather<uint32_t>(stream, dst, src, index, count); break;
      case 8: gather<uint64_t>(stream, dst, src, index, count); break;
      case 16: gather<ulonglong2>(stream, dst, src, index, count); break;
      default: throw failure(RADISH_GPU_USER, "gather: width %d is none of 1, 2, 4, 8, 16", width);
    }
    stream->device->check(cudaGetLastError(), "launching a gather");
  });
}

RADISH_API radish_gpu_kind radish_gpu_string_offsets(radish_gpu_stream* stream, uint64_t views, uint64_t offsets, int64_t count, radish_gpu_error* err) {
  return guarded(err, [&] {
    check_count(count);
    stream->device->use();
    scan(stream, reinterpret_cast<const View*>(views), SizeOf(), reinterpret_cast<uint64_t*>(offsets), count);
  });
}

RADISH_API radish_gpu_kind radish_gpu_string_copy(radish_gpu_stream* stream, uint64_t views, uint64_t offsets, uint64_t bytes, int64_t count,
                                                  radish_gpu_error* err) {
  return guarded(err, [&] {
    check_count(count);
    stream->device->use();
    if (count == 0) return;
    string_copy_kernel<<<grid_for(count), block, 0, stream->stream>>>(reinterpret_cast<const View*>(views), reinterpret_cast<const int64_t*>(offsets),
                                                                      reinterpret_cast<unsigned char*>(bytes), count);
    stream->device->check(cudaGetLastError(), "launching a copy of strings");
  });
}
