// anyorder.cuh: the comparison of rows by columns that only the parameters tell, for the kernels of sort.cuh: compiled once, they order whatever rows there are until better
// ones have been compiled. It agrees with what package exec/gpu/sort writes for given columns, keys of 64 bits included.
#pragma once
#include "sort.cuh"

// What a column's values are. exec/gpu/sort numbers them so, too.
constexpr u32 any_signed = 0, any_unsigned = 1, any_float = 2, any_wide = 3, any_string = 4, any_code = 5;
constexpr u32 any_descends = 8;       // the column's order is turned round
constexpr u32 any_kinds = 64 / 4;     // that a word has

struct AnyOrder {
  const u64* columns; // three words each: where values lie; where bytes do that are 0 for NULL, if any; and a dictionary's strings
  const u64* kinds;   // of four bits, from the lowest
  u32 count;          // of columns

  RADISH_FN u32 kind(u32 i) const { return (u32)(kinds[i / any_kinds] >> 4 * (i % any_kinds)) & 15; }
  RADISH_FN bool is_null(u32 i, u32 row) const {
    const u8* valid = as_pointer<const u8>(columns[3 * i + 1]);
    return valid && !valid[row];
  }
  RADISH_FN view string(u32 i, u32 row) const {
    const u64 words = columns[3 * i + 2];
    return words ? as_pointer<const view>(words)[as_pointer<const u32>(columns[3 * i])[row]] : as_pointer<const view>(columns[3 * i])[row];
  }
  // A number in the order of the values.
  RADISH_FN i128 number(u32 i, u32 row, u32 what) const {
    if (what == any_wide) return as_pointer<const i128>(columns[3 * i])[row];
    const u64 x = as_pointer<const u64>(columns[3 * i])[row];
    return what == any_signed ? (i128)(i64)x : what == any_unsigned ? (i128)x : (i128)sort_key(as_f64(x));
  }

  RADISH_NOINLINE u64 key(u32 row) const {
    const u32 k = kind(0), what = k & ~any_descends;
    const bool null = is_null(0, row);
    u64 x = 0;
    if (!null && what >= any_string) x = sort_key(string(0, row));
    if (!null && what < any_string) {
      const i128 n = number(0, row, what);
      x = what == any_unsigned || what == any_float ? (u64)n : sort_key(n);
    }
    if (columns[1]) x = sort_key_nullable(null, x);
    return k & any_descends ? ~x : x;
  }
  RADISH_NOINLINE bool before(u32 a, u32 b) const {
    RADISH_NO_UNROLL
    for (u32 i = 0; i < count; i++) {
      const u32 k = kind(i), what = k & ~any_descends;
      const bool null_a = is_null(i, a), null_b = is_null(i, b);
      i32 c = (i32)null_b - (i32)null_a;
      if (!null_a && !null_b && what >= any_string) c = compare_views(string(i, a), string(i, b));
      if (!null_a && !null_b && what < any_string) {
        const i128 x = number(i, a, what), y = number(i, b, what);
        c = x < y ? -1 : y < x;
      }
      if (c) return k & any_descends ? c > 0 : c < 0;
    }
    return false;
  }
  RADISH_FN bool operator()(u64 key_a, u32 a, u64 key_b, u32 b) const {
    if (key_a != key_b) return key_a < key_b;
    return before(a, b);
  }
};
