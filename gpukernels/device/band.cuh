// band.cuh: rows that lie in the order of a column, of which those that meet one or two inequalities are found without a look at all.
//
// A tree tells which rows cannot meet an inequality of another column: the greatest word of each 16 rows, of each 16 of those, and so on, level behind level.
#pragma once
#include "sortkey.cuh"
#include "thread.cuh"

constexpr int band_bits = 4;
constexpr u32 band_fan = 1u << band_bits;

// The first of the rows lo..hi-1 that is not below x, or, after it, is above x; hi if there is none.
template <typename T>
RADISH_FN u32 band_bound(const T* items, u32 lo, u32 hi, T x, bool after) {
  const u64 key = sort_key(x);
  while (lo < hi) {
    const u32 mid = lo + (hi - lo) / 2;
    const u64 here = sort_key(items[mid]);
    if (here < key || (after && here == key)) {
      lo = mid + 1;
    } else {
      hi = mid;
    }
  }
  return lo;
}

// The first of the rows at..end-1 whose word may be least or more; end if there is none. tree is that of n rows.
RADISH_FN u32 band_next(const u64* tree, u32 n, u32 at, u32 end, u64 least) {
  while (at < end && at % band_fan == 0) {
    u32 skip = 0, level = 0, size = (n + band_fan - 1) / band_fan;
    for (int shift = band_bits; (at & ((1u << shift) - 1)) == 0 && tree[level + (at >> shift)] < least; shift += band_bits) {
      skip = 1u << shift;
      if (size == 1 || shift + band_bits >= 32) break;
      level += size;
      size = (size + band_fan - 1) / band_fan;
    }
    if (skip == 0) return at;
    if (skip >= end - at) return end;
    at += skip;
  }
  return at;
}

// Writes the first level: of items, or of their complements. NULLs meet nothing. One thread a word.
template <typename T>
RADISH_FN void band_words(const T* items, const u8* valid, u32 n, bool flip, u64* out) {
  const u32 size = (n + band_fan - 1) / band_fan;
  for (u32 i = (u32)global_thread(); i < size; i += (u32)global_threads()) {
    u64 most = 0;
    for (u32 row = i * band_fan; row < n && row < (i + 1) * band_fan; row++) {
      if (valid && !valid[row]) continue;
      const u64 key = flip ? ~sort_key(items[row]) : sort_key(items[row]);
      most = max_of(most, key);
    }
    out[i] = most;
  }
}

// Writes the level above another one of n words.
RADISH_FN void band_level(const u64* below, u32 n, u64* out) {
  const u32 size = (n + band_fan - 1) / band_fan;
  for (u32 i = (u32)global_thread(); i < size; i += (u32)global_threads()) {
    u64 most = 0;
    for (u32 at = i * band_fan; at < n && at < (i + 1) * band_fan; at++) most = max_of(most, below[at]);
    out[i] = most;
  }
}
