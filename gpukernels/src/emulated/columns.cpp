// columns.cpp: the library kernels that bring columns into the form of stored ones, one loop each.
#include <algorithm>
#include <cstring>

#include "emulated.h"
#include "groups.h"

namespace {

template <int ORDER>
radish_gpu_range range_of(const int64_t* items, const uint8_t* valid, int64_t n) {
  int64_t low = INT64_MAX, high = INT64_MIN;
  radish_gpu_range r{0, 0, 0, 1, 0};
  for (int64_t i = 0; i < n; i++) {
    if (i > 0 && descends<ORDER>(items[i - 1], items[i])) r.ascending = 0;
    if (valid && !valid[i]) {
      r.nulls++;
    } else if (ORDER == RADISH_FLOAT_ORDER && is_nan(items[i])) {
      r.unordered = 1;
    } else {
      low = std::min(low, comparable<ORDER>(items[i]));
      high = std::max(high, comparable<ORDER>(items[i]));
    }
  }
  r.low = comparable<ORDER>(low);
  r.high = comparable<ORDER>(high);
  return r;
}

template <typename T>
void narrow(char* dst, const int64_t* items, const uint8_t* valid, int64_t n, const radish_gpu_frame& f) {
  auto* out = reinterpret_cast<T*>(dst + f.at);
  for (int64_t i = 0; i < n; i++) out[i] = T(valid && !valid[i] ? f.null_item : int64_t(uint64_t(items[i]) - uint64_t(f.base)));
}

} // namespace

RADISH_API radish_gpu_kind radish_gpu_group_ranges(radish_gpu_stream* stream, uint64_t items, uint64_t valid, int32_t order, int64_t count, int64_t group_rows,
                                                   uint64_t ranges, radish_gpu_error* err) {
  return guarded(err, [&] {
    StreamUse use(stream);
    check_groups(count, group_rows);
    int64_t groups = (count + group_rows - 1) / group_rows;
    use.check_range(items, 8 * count, "the items of groups");
    if (valid) use.check_range(valid, count, "the validity of groups");
    use.check_range(ranges, groups * int64_t(sizeof(radish_gpu_range)), "the ranges of groups");
    with_order(order, [&](auto is) {
      for (int64_t g = 0; g < groups; g++) {
        int64_t from = g * group_rows;
        reinterpret_cast<radish_gpu_range*>(ranges)[g] = range_of<decltype(is)::value>(
            reinterpret_cast<int64_t*>(items) + from, valid ? reinterpret_cast<uint8_t*>(valid) + from : nullptr, std::min(group_rows, count - from));
      }
    });
  });
}

RADISH_API radish_gpu_kind radish_gpu_group_narrow(radish_gpu_stream* stream, uint64_t items, uint64_t valid, int64_t count, int64_t group_rows, uint64_t frames,
                                                   uint64_t dst, radish_gpu_error* err) {
  return guarded(err, [&] {
    StreamUse use(stream);
    check_groups(count, group_rows);
    int64_t groups = (count + group_rows - 1) / group_rows;
    use.check_range(items, 8 * count, "the items of groups");
    if (valid) use.check_range(valid, count, "the validity of groups");
    use.check_range(frames, groups * int64_t(sizeof(radish_gpu_frame)), "the frames of groups");
    for (int64_t g = 0; g < groups; g++) {
      const auto& f = reinterpret_cast<radish_gpu_frame*>(frames)[g];
      int64_t from = g * group_rows, n = std::min(group_rows, count - from);
      use.check_range(dst + uint64_t(f.at), n * f.width, "the destination of a group");
      auto* out = reinterpret_cast<char*>(dst);
      auto* in = reinterpret_cast<int64_t*>(items) + from;
      auto* v = valid ? reinterpret_cast<uint8_t*>(valid) + from : nullptr;
      switch (f.width) {
        case 0: break;
        case 1: narrow<uint8_t>(out, in, v, n, f); break;
        case 2: narrow<uint16_t>(out, in, v, n, f); break;
        case 4: narrow<uint32_t>(out, in, v, n, f); break;
        case 8: narrow<uint64_t>(out, in, v, n, f); break;
        default: throw failure(RADISH_GPU_USER, "group_narrow: width %lld is none of 0, 1, 2, 4, 8", (long long)f.width);
      }
    }
  });
}

RADISH_API radish_gpu_kind radish_gpu_pack_bits(radish_gpu_stream* stream, uint64_t src, int64_t count, uint64_t dst, radish_gpu_error* err) {
  return guarded(err, [&] {
    StreamUse use(stream);
    check_groups(count, 1);
    use.check_range(src, count, "the bytes of a bitmap");
    use.check_range(dst, (count + 31) / 32 * 4, "the words of a bitmap");
    auto* in = reinterpret_cast<uint8_t*>(src);
    for (int64_t w = 0; w < (count + 31) / 32; w++) {
      uint32_t word = 0;
      for (int64_t i = 32 * w; i < 32 * w + 32; i++)
        if (i >= count || in[i]) word |= uint32_t(1) << (i & 31);
      reinterpret_cast<uint32_t*>(dst)[w] = word;
    }
  });
}
