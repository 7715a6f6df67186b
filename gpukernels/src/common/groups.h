// groups.h: how items of a column compare, and what the library checks of columns in groups.
#pragma once

#include "status.h"

#ifdef __CUDACC__
#define RADISH_BOTH __host__ __device__
#else
#define RADISH_BOTH
#endif

enum { RADISH_SIGNED_ORDER = 0, RADISH_UNSIGNED_ORDER = 1, RADISH_FLOAT_ORDER = 2 };

constexpr int64_t top_bit = INT64_MIN;

// Items in an order in which signed integers compare as they do. -0 comes before 0. It is its own inverse.
template <int ORDER>
RADISH_BOTH inline int64_t comparable(int64_t item) {
  if (ORDER == RADISH_UNSIGNED_ORDER) return item ^ top_bit;
  if (ORDER == RADISH_FLOAT_ORDER && item < 0) return item ^ ~top_bit;
  return item;
}

RADISH_BOTH inline bool is_nan(int64_t bits) { return (uint64_t(bits) << 1) > (uint64_t(0x7ff) << 53); }

// Whether an item is less than the one before it. Both zeros are equal, and NaN is not looked at.
template <int ORDER>
RADISH_BOTH inline bool descends(int64_t before, int64_t item) {
  if (ORDER == RADISH_FLOAT_ORDER && ((before | item) << 1) == 0) return false;
  return comparable<ORDER>(item) < comparable<ORDER>(before);
}

// Calls f with the order as a constant of its type; throws USER.
template <int ORDER>
struct OrderIs {
  static constexpr int value = ORDER;
};
template <typename F>
void with_order(int32_t order, F f) {
  switch (order) {
    case RADISH_SIGNED_ORDER: return f(OrderIs<RADISH_SIGNED_ORDER>());
    case RADISH_UNSIGNED_ORDER: return f(OrderIs<RADISH_UNSIGNED_ORDER>());
    case RADISH_FLOAT_ORDER: return f(OrderIs<RADISH_FLOAT_ORDER>());
  }
  throw failure(RADISH_GPU_USER, "group_ranges: order %d is none of 0, 1, 2", order);
}

inline void check_groups(int64_t count, int64_t group_rows) {
  require(count >= 0 && count <= (int64_t(1) << 48), "a count that is negative or absurd");
  require(group_rows > 0 && group_rows <= (int64_t(1) << 30), "groups of no rows, or of absurdly many");
}
