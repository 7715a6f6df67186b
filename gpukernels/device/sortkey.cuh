// sortkey.cuh: words of 64 bits in the order of values. Sorts and searches compare them; those of wide integers and strings agree with the order as far as they go.
#pragma once
#include "bytes.cuh"
#include "float.cuh"

RADISH_FN u64 sort_key(i64 x) { return (u64)x ^ (1ull << 63); }
RADISH_FN u64 sort_key(u64 x) { return x; }
RADISH_FN u64 sort_key(f64 x) {
  u64 bits = float_key(x);
  return bits >> 63 ? ~bits : bits | (1ull << 63);
}
RADISH_FN u64 sort_key(i128 x) {
  const i64 most = 0x7fffffffffffffffll;
  return sort_key(x > most ? most : x < -most - 1 ? -most - 1 : (i64)x);
}
RADISH_FN u64 sort_key(view x) {
  if (x.size == 0) return 0;
  const u64 first = load_bytes(x.data, x.size); // in the order of the machine, the lowest byte first
  return (u64)byte_permute((u32)first, 0, 0x0123) << 32 | byte_permute((u32)(first >> 32), 0, 0x0123);
}
// A key that may be NULL, which comes first.
RADISH_FN u64 sort_key_nullable(bool null, u64 key) { return null ? 0 : (1ull << 63) | key >> 1; }
