// lookup.cuh: lookup tables and sets that the host makes: over a dictionary's codes, and IN lists.
#pragma once
#include "string.cuh"
#include "arith.cuh"

// Is x in the set of integers whose bits, from base on, are in words of 64?
RADISH_FN bool in_bitmap(i64 x, i64 base, u64 bits, const u64* words) {
  u64 d = (u64)x - (u64)base;
  return d < bits && (words[d >> 6] >> (d & 63) & 1);
}

// Whether a comes before b in a sorted list.
template <typename T>
RADISH_FN bool in_order(T a, T b) {
  return a < b;
}
RADISH_FN bool in_order(f64 a, f64 b) { return float_lt(a, b); }

// Is x in a sorted array?
template <typename T>
RADISH_NOINLINE bool in_sorted(T x, const T* sorted, i64 n) {
  i64 lo = 0;
  while (n > 0) {
    i64 half = n >> 1;
    if (in_order(sorted[lo + half], x)) {
      lo += half + 1;
      n -= half + 1;
    } else if (!in_order(x, sorted[lo + half])) {
      return true;
    } else {
      n = half;
    }
  }
  return false;
}

// A string of at most seven bytes as a number: its bytes and its size. Longer ones have none: they give a number that no string has.
RADISH_NOINLINE u64 short_string(view s) {
  if (s.size > 7) return ~(u64)0;
  return s.size == 0 ? 0 : load_bytes(s.data, s.size) << 8 | (u64)s.size;
}

// Is s among sorted strings?
RADISH_NOINLINE bool in_sorted_strings(view s, const u8* bytes, const i64* offsets, i64 n) {
  i64 lo = 0;
  while (n > 0) {
    i64 half = n >> 1;
    i32 c = compare_views(dictionary_string(bytes, offsets, (u32)(lo + half)), s);
    if (c == 0) return true;
    if (c < 0) {
      lo += half + 1;
      n -= half + 1;
    } else {
      n = half;
    }
  }
  return false;
}
