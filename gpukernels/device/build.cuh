// build.cuh: what joins look rows up in.
//
//   bitmap    a bit at key - min: for semi and anti joins, and to say which places of a dense array are taken
//   dense     payload at key - min (unique keys), or the first row's number
//   hash      the first row's number at hash & mask; rows of one bucket are chained by next[row]
//
// Row numbers have 32 bits; no_row ends a chain.
#pragma once
#include "atomic.cuh"

constexpr u32 no_row = 0xffffffffu;

// Sets bit i; says whether it was set before.
RADISH_FN bool set_bit(u32* words, u64 i) {
  u32 bit = 1u << (i & 31);
  if (load_relaxed(words + (i >> 5)) & bit) return true;
  return atomic_or(words + (i >> 5), bit) & bit;
}

// Puts row in front of a chain.
RADISH_FN void chain(u32* heads, u64 at, u32* next, u32 row) { next[row] = atomic_exchange(heads + at, row); }
