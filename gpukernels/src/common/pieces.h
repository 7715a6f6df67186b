// pieces.h: the memory that radish_gpu_download_pieces lays a range of the device out in.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "status.h"

class PieceLayout {
 public:
  // The pieces must stay as they are while the layout is used; throws USER.
  PieceLayout(const radish_gpu_piece* pieces, int64_t count) : pieces_(pieces) {
    require(count >= 0, "a negative number of pieces");
    begins_.reserve(size_t(count) + 1);
    int64_t at = 0;
    for (int64_t i = 0; i < count; i++) {
      require(pieces[i].bytes >= 0 && pieces[i].bytes <= (int64_t(1) << 48) - at, "a size that is negative or absurd");
      begins_.push_back(at);
      at += pieces[i].bytes;
    }
    begins_.push_back(at);
  }

  int64_t bytes() const { return begins_.back(); }

  // Stores n bytes that begin at a byte of the range.
  void store(const void* bytes, int64_t from, int64_t n) const {
    auto* in = static_cast<const char*>(bytes);
    size_t i = size_t(std::upper_bound(begins_.begin(), begins_.end(), from) - begins_.begin()) - 1;
    for (const int64_t end = from + n; from < end; i++) {
      int64_t part = std::min(end, begins_[i + 1]) - from;
      if (part > 0) std::memcpy(static_cast<char*>(pieces_[i].dst) + (from - begins_[i]), in, size_t(part));
      from += part;
      in += part;
    }
  }

 private:
  const radish_gpu_piece* pieces_;
  std::vector<int64_t> begins_; // the byte that each piece begins at, and the end
};
