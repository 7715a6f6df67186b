// items.h: what radish_gpu_upload_items lays out: arrays of integers of any width end to end as integers of one width, or any part of that.
#pragma once

#include <algorithm>
#include <vector>

#include "status.h"

class ItemLayout {
 public:
  // The arrays must stay as they are while the layout is used; throws USER.
  ItemLayout(int32_t width, const radish_gpu_items* items, int64_t count) : width_(width), items_(items) {
    check_width(width);
    require(count >= 0, "a negative number of arrays");
    begins_.reserve(size_t(count) + 1);
    int64_t at = 0;
    for (int64_t i = 0; i < count; i++) {
      if (items[i].width != 0) check_width(items[i].width);
      require(items[i].count >= 0 && items[i].count <= (int64_t(1) << 40) - at / width, "a count that is negative or absurd");
      begins_.push_back(at);
      at += items[i].count * width;
    }
    begins_.push_back(at);
  }

  int64_t bytes() const { return begins_.back(); }

  // Writes bytes from .. from+n-1 of the layout; both are multiples of its width.
  void write(void* out, int64_t from, int64_t n) const {
    auto* to = static_cast<char*>(out);
    size_t i = size_t(std::upper_bound(begins_.begin(), begins_.end(), from) - begins_.begin()) - 1;
    for (const int64_t end = from + n; from < end; i++) {
      int64_t part = std::min(end, begins_[i + 1]) - from;
      if (part > 0) write_part(to, items_[i], (from - begins_[i]) / width_, part / width_);
      from += part;
      to += part;
    }
  }

 private:
  static void check_width(int32_t width) {
    if (width != 1 && width != 2 && width != 4 && width != 8) throw failure(RADISH_GPU_USER, "items of width %d, which is none of 1, 2, 4, 8", width);
  }

  void write_part(char* out, const radish_gpu_items& items, int64_t first, int64_t count) const {
    if (items.width == width_ && items.delta == 0) {
      std::memcpy(out, static_cast<const char*>(items.src) + first * width_, size_t(count * width_));
      return;
    }
    switch (width_) {
      case 1: return convert(reinterpret_cast<uint8_t*>(out), items, first, count);
      case 2: return convert(reinterpret_cast<uint16_t*>(out), items, first, count);
      case 4: return convert(reinterpret_cast<uint32_t*>(out), items, first, count);
      case 8: return convert(reinterpret_cast<uint64_t*>(out), items, first, count);
    }
  }

  template <typename D>
  static void convert(D* out, const radish_gpu_items& items, int64_t first, int64_t count) {
    switch (items.width) {
      case 0: std::fill(out, out + count, D(items.delta)); return;
      case 1: return add(out, static_cast<const uint8_t*>(items.src) + first, uint64_t(items.delta), count);
      case 2: return add(out, static_cast<const uint16_t*>(items.src) + first, uint64_t(items.delta), count);
      case 4: return add(out, static_cast<const uint32_t*>(items.src) + first, uint64_t(items.delta), count);
      case 8: return add(out, static_cast<const uint64_t*>(items.src) + first, uint64_t(items.delta), count);
    }
  }

  template <typename D, typename S>
  static void add(D* __restrict__ out, const S* __restrict__ in, uint64_t delta, int64_t count) {
    for (int64_t i = 0; i < count; i++) out[i] = D(D(in[i]) + D(delta));
  }

  int32_t width_;
  const radish_gpu_items* items_;
  std::vector<int64_t> begins_; // the byte that each array begins at, and the end
};
