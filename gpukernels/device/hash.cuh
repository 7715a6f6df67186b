// hash.cuh: hashes of keys, and equality of those that are not integers. Every key that takes part in a join or a grouping by hash
// is mixed by these, so both sides of a join agree.
#pragma once
#include "base.cuh"
#include "bytes.cuh"
#include "float.cuh"

// The finaliser of MurmurHash3 (Appleby 2011): every bit of x reaches every bit of the result.
RADISH_FN u64 mix(u64 x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdull;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ull;
  return x ^ x >> 33;
}

RADISH_FN u64 unmix(u64 x) { // its inverse
  x ^= x >> 33;
  x *= 0x9cb4b2f8129337dbull;
  x ^= x >> 33;
  x *= 0x4f74430c22a54005ull;
  return x ^ x >> 33;
}

// A bijection of 32-bit words, that finaliser's of 32 bits, which keeps ~0 as it is; and its inverse.
RADISH_FN u32 mix_word(u32 x) {
  u32 h = ~x;
  h = (h ^ h >> 16) * 0x85ebca6bu;
  h = (h ^ h >> 13) * 0xc2b2ae35u;
  return ~(h ^ h >> 16);
}
RADISH_FN u32 unmix_word(u32 x) {
  u32 h = ~x;
  h = (h ^ h >> 16) * 0x7ed1b41du;
  h = (h ^ h >> 13 ^ h >> 26) * 0xa5cb9243u;
  return ~(h ^ h >> 16);
}

// A bijection of 64-bit words that makes the high half depend on all of them (Fibonacci hashing, Knuth), and its inverse.
RADISH_FN u64 spread_word(u64 x) { return x * 0x9E3779B97F4A7C15ull; }
RADISH_FN u64 unspread_word(u64 x) { return x * 0xF1DE83E19937733Dull; }

RADISH_FN u64 hash_of(i64 x) { return mix((u64)x); }
RADISH_FN u64 hash_of(u32 x) { return mix(x); }
RADISH_FN u64 hash_of(f64 x) { return mix(float_key(x)); }
RADISH_FN u64 hash_of(i128 x) { return mix((u64)x ^ mix((u64)((u128)x >> 64))); }
RADISH_LONG u64 hash_of(view x) {
  u64 h = (u64)x.size;
  i64 i = 0;
  RADISH_NO_UNROLL
  for (; i + 8 <= x.size; i += 8) h = mix(h ^ load_bytes(x.data + i, 8)) + 0x9e3779b97f4a7c15ull;
  return mix(i < x.size ? h ^ load_bytes(x.data + i, x.size - i) : h);
}
RADISH_FN u64 hash_combine(u64 h, u64 more) { return mix(h + 0x9e3779b97f4a7c15ull) ^ more * 0x9fb21c651e98df25ull; }
constexpr u64 hash_of_null = 0x2545f4914f6cdd1dull;

RADISH_FN bool same_key(i64 a, i64 b) { return a == b; }
RADISH_FN bool same_key(u32 a, u32 b) { return a == b; }
RADISH_FN bool same_key(f64 a, f64 b) { return float_eq(a, b); }
RADISH_FN bool same_key(i128 a, i128 b) { return a == b; }
RADISH_FN bool same_key(view a, view b) { return a.size == b.size && (a.data == b.data || equal_bytes_at(a.data, b.data, a.size)); }
