// arith.cuh: integer arithmetic that notices overflow, and 128-bit numbers. Functions that return bool return true where the result
// left its range; what they stored is then the result wrapped round. Sums and products are formed unsigned, where wrapping is
// defined.
#pragma once
#include "base.cuh"
#include "atomic.cuh"
#include "float.cuh"

// Counts a warning of a site; counts has a word for each.
RADISH_NOINLINE void warn(u64* counts, u32 site) { atomic_add(counts + site, (u64)1); }

RADISH_FN bool add_i64(i64 a, i64 b, i64& r) {
  r = (i64)((u64)a + (u64)b);
  return ((a ^ r) & (b ^ r)) < 0;
}
RADISH_FN bool sub_i64(i64 a, i64 b, i64& r) {
  r = (i64)((u64)a - (u64)b);
  return ((a ^ b) & (a ^ r)) < 0;
}
RADISH_FN bool mul_i64(i64 a, i64 b, i64& r) {
  i128 wide = (i128)a * b;
  r = (i64)wide;
  return wide != r;
}

// The same without the question, for results that are known to fit, and for the slots of NULLs, where anything may stand.
RADISH_FN i64 wrap_add(i64 a, i64 b) { return (i64)((u64)a + (u64)b); }
RADISH_FN i64 wrap_sub(i64 a, i64 b) { return (i64)((u64)a - (u64)b); }
RADISH_FN i64 wrap_mul(i64 a, i64 b) { return (i64)((u64)a * (u64)b); }
// The same for numbers whose low 32 bits are all of them: one instruction, where 64 bits take two to five. Of wide_mul the product may have more.
RADISH_FN i32 short_add(i64 a, i64 b) { return (i32)((u32)a + (u32)b); }
RADISH_FN i32 short_sub(i64 a, i64 b) { return (i32)((u32)a - (u32)b); }
RADISH_FN i32 short_mul(i64 a, i64 b) { return (i32)((u32)a * (u32)b); }
RADISH_FN i64 wide_mul(i64 a, i64 b) { return (i64)(i32)a * (i32)b; }
RADISH_FN i128 wrap_add(i128 a, i128 b) { return (i128)((u128)a + (u128)b); }
RADISH_FN i128 wrap_sub(i128 a, i128 b) { return (i128)((u128)a - (u128)b); }
RADISH_FN i128 wrap_mul(i128 a, i128 b) { return (i128)((u128)a * (u128)b); }

RADISH_FN bool fits_i64(i128 x) { return x == (i64)x; }
RADISH_FN bool fits_u64(i128 x) { return (x >> 64) == 0; }
RADISH_FN u128 magnitude(i128 x) { return x < 0 ? -(u128)x : (u128)x; }
RADISH_FN u64 magnitude(i64 x) { return x < 0 ? -(u64)x : (u64)x; }

// The number of a magnitude and a sign; true where it has more than 127 bits.
RADISH_FN bool signed_of(u128 u, bool negative, i128& r) {
  r = (i128)(negative ? -u : u);
  return negative ? u > (u128)1 << 127 : u >> 127 != 0;
}

RADISH_FN bool add_i128(i128 a, i128 b, i128& r) {
  r = wrap_add(a, b);
  return ((a ^ r) & (b ^ r)) < 0;
}
RADISH_FN bool sub_i128(i128 a, i128 b, i128& r) {
  r = wrap_sub(a, b);
  return ((a ^ b) & (a ^ r)) < 0;
}

// The 256-bit product.
RADISH_FN void mul_u128(u128 a, u128 b, u128& high, u128& low) {
  u64 a0 = (u64)a, a1 = (u64)(a >> 64), b0 = (u64)b, b1 = (u64)(b >> 64);
  u128 p00 = (u128)a0 * b0, p01 = (u128)a0 * b1, p10 = (u128)a1 * b0, p11 = (u128)a1 * b1;
  u128 middle = (p00 >> 64) + (u64)p01 + (u64)p10;
  low = middle << 64 | (u64)p00;
  high = p11 + (p01 >> 64) + (p10 >> 64) + (middle >> 64);
}

RADISH_NOINLINE bool mul_long(i128 a, i128 b, i128& r) {
  u128 high, low;
  mul_u128(magnitude(a), magnitude(b), high, low);
  return signed_of(low, (a < 0) != (b < 0), r) | (high != 0);
}
RADISH_FN bool mul_i128(i128 a, i128 b, i128& r) {
  if (fits_i64(a) & fits_i64(b)) {
    r = (i128)(i64)a * (i64)b;
    return false;
  }
  return mul_long(a, b, r);
}

// Integer division for divisors other than 0: -2^63 / -1 wraps round, where the processor would trap.
RADISH_FN i64 div_i64(i64 a, i64 b) { return b == -1 ? wrap_sub(0, a) : a / (b == 0 ? 1 : b); }
RADISH_FN i64 mod_i64(i64 a, i64 b) { return b == -1 ? 0 : a % (b == 0 ? 1 : b); }

// Results of BIGINT UNSIGNED: exact in 128 bits, then looked at.
RADISH_FN bool to_u64(i128 x, i64& r) {
  r = (i64)x;
  return !fits_u64(x);
}
RADISH_FN bool mul_to_u64(i128 a, i128 b, i64& r) {
  i128 x;
  bool over = mul_i128(a, b, x);
  r = (i64)x;
  return over | !fits_u64(x);
}

// Doubles.

#ifdef RADISH_EMULATED
#define RADISH_MATH_1(name) \
  RADISH_FN f64 math_##name(f64 x) { return __builtin_##name(x); }
#define RADISH_MATH_2(name) \
  RADISH_FN f64 math_##name(f64 x, f64 y) { return __builtin_##name(x, y); }
#else
#define RADISH_MATH_1(name) \
  RADISH_FN f64 math_##name(f64 x) { return ::name(x); }
#define RADISH_MATH_2(name) \
  RADISH_FN f64 math_##name(f64 x, f64 y) { return ::name(x, y); }
#endif
RADISH_MATH_1(rint)
RADISH_MATH_1(trunc)
RADISH_MATH_1(floor)
RADISH_MATH_1(ceil)
RADISH_MATH_1(fabs)
RADISH_MATH_1(sqrt)
RADISH_MATH_1(exp)
RADISH_MATH_1(log)
RADISH_MATH_1(log2)
RADISH_MATH_1(log10)
RADISH_MATH_1(sin)
RADISH_MATH_1(cos)
RADISH_MATH_1(tan)
RADISH_MATH_1(asin)
RADISH_MATH_1(acos)
RADISH_MATH_1(atan)
RADISH_MATH_2(atan2)
RADISH_MATH_2(pow)
RADISH_MATH_2(fmod)

// ROUND and TRUNCATE of doubles: my_double_round of MySQL (item_func.cc). Halves go to even.
RADISH_NOINLINE f64 round_double(f64 x, i64 digits, bool cut) {
  if (not_finite(x)) return x;
  f64 power = math_pow(10, math_fabs((f64)digits));
  if (digits < 0) {
    if (not_finite(power)) return 0;
    f64 q = x / power;
    return (cut ? math_trunc(q) : math_rint(q)) * power;
  }
  f64 up = x * power;
  if (not_finite(up)) return x;
  return (cut ? math_trunc(up) : math_rint(up)) / power;
}

// A double to BIGINT, or to BIGINT UNSIGNED, which keeps the bits of a negative number; halves to even. True where it lies outside.
RADISH_FN bool double_to_i64(f64 x, i64& r) {
  f64 whole = math_rint(x);
  bool outside = !(whole >= -9223372036854775808.0 && whole < 9223372036854775808.0);
  r = outside ? 0 : (i64)whole;
  return outside;
}
RADISH_FN bool double_to_u64(f64 x, i64& r) {
  f64 whole = math_rint(x);
  if (whole < 9223372036854775808.0) return double_to_i64(x, r);
  bool outside = !(whole < 18446744073709551616.0);
  r = outside ? 0 : (i64)(u64)whole;
  return outside;
}
