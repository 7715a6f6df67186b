// sort.cu: CUB's radix sort of (key, value) pairs.
#include <cuda_runtime.h>

#include <cub/device/device_radix_sort.cuh>

#include "device.h"

namespace {

template <typename K>
int sort_pairs(radish_gpu_stream* stream, uint64_t keys, uint64_t other_keys, uint64_t values, uint64_t other_values, int64_t count, int first_bit, int last_bit) {
  radish_gpu_device* d = stream->device;
  cub::DoubleBuffer<K> k(reinterpret_cast<K*>(keys), reinterpret_cast<K*>(other_keys));
  cub::DoubleBuffer<uint32_t> v(reinterpret_cast<uint32_t*>(values), reinterpret_cast<uint32_t*>(other_values));
  size_t bytes = 0;
  d->check(cub::DeviceRadixSort::SortPairs(nullptr, bytes, k, v, count, first_bit, last_bit, stream->stream), "planning a sort");
  Scratch scratch(stream, int64_t(bytes));
  d->check(cub::DeviceRadixSort::SortPairs(scratch.get(), bytes, k, v, count, first_bit, last_bit, stream->stream), "launching a sort");
  // Where the result lies depends on the number of passes. Keys and values go the same way.
  return v.selector;
}

} // namespace

RADISH_API radish_gpu_kind radish_gpu_sort_pairs(radish_gpu_stream* stream, uint64_t keys, uint64_t other_keys, int32_t width, uint64_t values,
                                                 uint64_t other_values, int64_t count, int32_t first_bit, int32_t last_bit, int32_t* in_other,
                                                 radish_gpu_error* err) {
  return guarded(err, [&] {
    require(width == 4 || width == 8, "sort_pairs: keys have 4 or 8 bytes");
    require(0 <= first_bit && first_bit <= last_bit && last_bit <= 8 * width, "sort_pairs: the bits lie outside the keys");
    require(count >= 0 && count <= (int64_t(1) << 32), "sort_pairs: more items than a 32-bit value can number");
    stream->device->use();
    *in_other = 0;
    if (count < 2 || first_bit == last_bit) return;
    auto sort = width == 4 ? sort_pairs<uint32_t> : sort_pairs<uint64_t>;
    *in_other = sort(stream, keys, other_keys, values, other_values, count, first_bit, last_bit);
  });
}
