// bytes.cuh: comparing strings. They are read in aligned words of eight bytes: a word that holds a byte of an allocation lies wholly inside it, since
// allocations begin at and are padded to multiples of 256 bytes.
#pragma once
#include "base.cuh"

RADISH_FN u64 word_at(const u8* aligned) { return *reinterpret_cast<const u64*>(aligned); }

// Up to eight bytes at p, the first in the lowest byte; bytes from n on are 0. n is at least 1.
RADISH_FN u64 load_bytes(const u8* p, i64 n) {
  int skip = (int)((u64)p & 7);
  const u8* aligned = p - skip;
  u64 w = word_at(aligned) >> (8 * skip);
  if (skip != 0 && n > 8 - skip) w |= word_at(aligned + 8) << (64 - 8 * skip);
  return n < 8 ? w & ((1ULL << (8 * n)) - 1) : w;
}

// The lowest bit that is set; x is not 0.
RADISH_FN int lowest_bit(u64 x) { return first_bit(x) - 1; }

// A call, since kernels compare many strings, few of them of one size: with a loop at each call they take up to twice as long to compile.
RADISH_NOINLINE bool equal_bytes_at(const u8* a, const u8* b, i64 n) {
  RADISH_NO_UNROLL
  for (i64 i = 0; i < n; i += 8)
    if (load_bytes(a + i, n - i) != load_bytes(b + i, n - i)) return false;
  return true;
}
RADISH_FN bool equal_views(view a, view b) { return a.size == b.size && equal_bytes_at(a.data, b.data, a.size); }

// -1, 0 or 1 in the order of bytes.
RADISH_NOINLINE i32 compare_views(view a, view b) {
  i64 n = a.size < b.size ? a.size : b.size;
  RADISH_NO_UNROLL
  for (i64 i = 0; i < n; i += 8) {
    u64 x = load_bytes(a.data + i, n - i), y = load_bytes(b.data + i, n - i);
    if (x != y) {
      int shift = lowest_bit(x ^ y) & ~7;
      return (u8)(x >> shift) < (u8)(y >> shift) ? -1 : 1;
    }
  }
  return a.size < b.size ? -1 : a.size > b.size;
}
