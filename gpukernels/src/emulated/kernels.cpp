// kernels.cpp: the library kernels, one loop each.
#include <algorithm>
#include <numeric>

#include "emulated.h"

namespace {

// Calls f with a pointer of an unsigned type of that many bytes.
template <typename F>
void with_width(int32_t width, uint64_t address, const char* what, F f) {
  switch (width) {
    case 1: return f(reinterpret_cast<uint8_t*>(address));
    case 2: return f(reinterpret_cast<uint16_t*>(address));
    case 4: return f(reinterpret_cast<uint32_t*>(address));
    case 8: return f(reinterpret_cast<uint64_t*>(address));
  }
  throw failure(RADISH_GPU_USER, "%s: width %d is none of 1, 2, 4, 8", what, width);
}

// The number of bytes of count items; refuses what would overflow.
int64_t bytes_of(int64_t count, int64_t width) {
  require(count >= 0 && count <= (int64_t(1) << 48), "a count that is negative or absurd");
  return count * width;
}

struct View {
  const char* data;
  int64_t size;
};

template <typename K>
void sort_pairs(const K* keys, K* out_keys, const uint32_t* values, uint32_t* out_values, int64_t count, int first_bit, int last_bit) {
  int bits = last_bit - first_bit;
  K mask = bits == int(8 * sizeof(K)) ? ~K(0) : (K(1) << bits) - 1;
  std::vector<int64_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return ((keys[a] >> first_bit) & mask) < ((keys[b] >> first_bit) & mask); });
  for (int64_t i = 0; i < count; i++) out_keys[i] = keys[order[i]], out_values[i] = values[order[i]];
}

} // namespace

RADISH_API radish_gpu_kind radish_gpu_fill(radish_gpu_stream* stream, uint64_t dst, uint64_t value, int32_t width, int64_t count, radish_gpu_error* err) {
  return guarded(err, [&] {
    StreamUse use(stream);
    with_width(width, dst, "fill", [&](auto* p) {
      use.check_range(dst, bytes_of(count, width), "the destination of a fill");
      for (int64_t i = 0; i < count; i++) p[i] = static_cast<std::decay_t<decltype(*p)>>(value);
    });
  });
}

RADISH_API radish_gpu_kind radish_gpu_exclusive_scan_u32_u64(radish_gpu_stream* stream, uint64_t in, uint64_t out, int64_t count, radish_gpu_error* err) {
  return guarded(err, [&] {
    StreamUse use(stream);
    use.check_range(in, bytes_of(count, 4), "the input of a scan");
    use.check_range(out, bytes_of(count + 1, 8), "the output of a scan");
    auto* x = reinterpret_cast<uint32_t*>(in);
    auto* sum = reinterpret_cast<uint64_t*>(out);
    uint64_t s = 0;
    for (int64_t i = 0; i < count; i++) {
      sum[i] = s;
      s += x[i];
    }
    sum[count] = s;
  });
}

RADISH_API radish_gpu_kind radish_gpu_sort_pairs(radish_gpu_stream* stream, uint64_t keys, uint64_t other_keys, int32_t width, uint64_t values,
                                                 uint64_t other_values, int64_t count, int32_t first_bit, int32_t last_bit, int32_t* in_other,
                                                 radish_gpu_error* err) {
  return guarded(err, [&] {
    StreamUse use(stream);
    require(width == 4 || width == 8, "sort_pairs: keys have 4 or 8 bytes");
    require(0 <= first_bit && first_bit <= last_bit && last_bit <= 8 * width, "sort_pairs: the bits lie outside the keys");
    for (uint64_t p : {keys, other_keys}) use.check_range(p, bytes_of(count, width), "the keys of a sort");
    for (uint64_t p : {values, other_values}) use.check_range(p, bytes_of(count, 4), "the values of a sort");
    *in_other = count >= 2 && first_bit < last_bit;
    if (!*in_other) return;
    auto* v = reinterpret_cast<uint32_t*>(values);
    auto* out = reinterpret_cast<uint32_t*>(other_values);
    if (width == 4)
      sort_pairs(reinterpret_cast<uint32_t*>(keys), reinterpret_cast<uint32_t*>(other_keys), v, out, count, first_bit, last_bit);
    else
      sort_pairs(reinterpret_cast<uint64_t*>(keys), reinterpret_cast<uint64_t*>(other_keys), v, out, count, first_bit, last_bit);
  });
}

RADISH_API radish_gpu_kind radish_gpu_gather(radish_gpu_stream* stream, uint64_t dst, uint64_t src, uint64_t index, int32_t width, int64_t count,
                                             radish_gpu_error* err) {
  return guarded(err, [&] {
    StreamUse use(stream);
    require(width == 1 || width == 2 || width == 4 || width == 8 || width == 16, "gather: width is none of 1, 2, 4, 8, 16");
    use.check_range(dst, bytes_of(count, width), "the destination of a gather");
    use.check_range(index, bytes_of(count, 4), "the index of a gather");
    auto* out = reinterpret_cast<char*>(dst);
    auto* in = reinterpret_cast<char*>(src);
    auto* at = reinterpret_cast<uint32_t*>(index);
    for (int64_t i = 0; i < count; i++) {
      if (i == 0 || at[i] > at[i - 1]) use.check_range(src, (int64_t(at[i]) + 1) * width, "the source of a gather");
      std::memcpy(out + i * width, in + int64_t(at[i]) * width, width);
    }
  });
}

RADISH_API radish_gpu_kind radish_gpu_string_offsets(radish_gpu_stream* stream, uint64_t views, uint64_t offsets, int64_t count, radish_gpu_error* err) {
  return guarded(err, [&] {
    StreamUse use(stream);
    use.check_range(views, bytes_of(count, 16), "the views");
    use.check_range(offsets, bytes_of(count + 1, 8), "the offsets");
    auto* v = reinterpret_cast<View*>(views);
    auto* o = reinterpret_cast<int64_t*>(offsets);
    int64_t sum = 0;
    for (int64_t i = 0; i < count; i++) {
      o[i] = sum;
      sum += v[i].size;
    }
    o[count] = sum;
  });
}

RADISH_API radish_gpu_kind radish_gpu_string_copy(radish_gpu_stream* stream, uint64_t views, uint64_t offsets, uint64_t bytes, int64_t count,
                                                  radish_gpu_error* err) {
  return guarded(err, [&] {
    StreamUse use(stream);
    use.check_range(views, bytes_of(count, 16), "the views");
    use.check_range(offsets, bytes_of(count + 1, 8), "the offsets");
    auto* v = reinterpret_cast<View*>(views);
    auto* o = reinterpret_cast<int64_t*>(offsets);
    use.check_range(bytes, o[count], "the bytes");
    for (int64_t i = 0; i < count; i++)
      if (v[i].size > 0) std::memcpy(reinterpret_cast<char*>(bytes) + o[i], v[i].data, v[i].size);
  });
}
