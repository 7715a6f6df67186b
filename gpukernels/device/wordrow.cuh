// wordrow.cuh: rows of a join that go to partitions or are sorted: the radix key, which follows from the keys, in 32 bits or in 64, and the columns that the join carries.
// A kernel that has such rows defines RADISH_ROW_WORDS.
#pragma once
#include "base.cuh"

#ifdef RADISH_ROW_WORDS
template <int Words>
struct alignas(Words == 1 ? 8 : 16) WordRow {
  u64 w[Words];
};
typedef WordRow<RADISH_ROW_WORDS> Row;
#ifdef RADISH_WIDE_KEYS
typedef u64 RadixKey;
template <int Words>
RADISH_FN u64 radix_key_of(const WordRow<Words>& row) {
  return row.w[0];
}
#else
typedef u32 RadixKey;
template <int Words>
RADISH_FN u32 radix_key_of(const WordRow<Words>& row) {
  return high_word(row.w[0]);
}
#endif
constexpr Row pad_row = {{~0ull}}; // no slot is ~0
template <int Words>
RADISH_FN bool is_pad(const WordRow<Words>& row) {
  return radix_key_of(row) == ~(RadixKey)0;
}
#endif
