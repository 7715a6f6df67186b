// variance.cuh: variances from a sum and a sum of squares that are exact: (n * squares - sum^2) / (n * divisor). The difference is computed in integers, so
// that nothing is lost where it is small beside what it is a difference of; only then it is rounded to a double.
#pragma once
#include "aggregate.cuh"
#include "decimal.cuh"

// The variance of n values, the divisor being n or n - 1. sum has a_limbs 32-bit limbs, lowest first, from limb a_at on, squares b_limbs from b_at on; a limb of
// the latter, and of the former's square, is worth 2^(32 * its number + unit). What lies below b_at is dropped. *fits becomes false where the result would be too
// small for the digits that a double has.
RADISH_NOINLINE f64 variance_of(const u32* sum, int a_limbs, int a_at, const u32* squares, int b_limbs, int b_at, u64 n, u64 divisor, int unit, bool* fits) {
  constexpr int window = 16;
  u32 difference[window]; // from limb b_at on
  u128 column = 0;
  RADISH_NO_UNROLL
  for (int i = 0; i < window; i++) {
    if (i < b_limbs) column += (u128)n * squares[i];
    difference[i] = (u32)column;
    column >>= 32;
  }
  column = 0;
  i64 borrow = 0;
  RADISH_NO_UNROLL
  for (int limb = 0; limb + 2 * a_at - b_at < window; limb++) {
    RADISH_NO_UNROLL
    for (int i = max_of(0, limb - a_limbs + 1); i <= min_of(limb, a_limbs - 1); i++) column += (u64)sum[i] * sum[limb - i];
    const int at = limb + 2 * a_at - b_at;
    if (at >= 0) {
      const i64 x = (i64)difference[at] - (i64)(u32)column + borrow;
      difference[at] = (u32)x;
      borrow = x >> 32;
    }
    column >>= 32;
  }
  if (borrow != 0) { // squares so small that they were rounded
    *fits = false;
    return 0;
  }
  int top = window - 1;
  while (top >= 0 && difference[top] == 0) top--;
  if (top < 0) return 0;
  // Its 64 highest bits; the last of them says, too, whether any lies below.
  const int zeros = leading_zeros(difference[top]);
  u128 high = 0;
  for (int i = 0; i < 3; i++) high = high << 32 | (top - i >= 0 ? difference[top - i] : 0);
  high <<= 32 + zeros;
  bool more = (u64)high != 0;
  for (int i = top - 3; i >= 0 && !more; i--) more = difference[i] != 0;
  const f64 x = (f64)((u64)(high >> 64) | more) / ((f64)n * (f64)divisor);
  const int power = 32 * (top + b_at - 1) - zeros + unit;
  if (power < -1060) {
    *fits = false;
    return 0;
  }
  return x * power_of_2(power / 2) * power_of_2(power - power / 2);
}

// The variance of integers.
RADISH_NOINLINE f64 variance(i128 sum, i128 squares, i64 n, i64 divisor, bool* fits) {
  const u128 magnitude_of_sum = magnitude(sum);
  u32 a[4], b[4];
  for (int i = 0; i < 4; i++) {
    a[i] = (u32)(magnitude_of_sum >> (32 * i));
    b[i] = (u32)((u128)squares >> (32 * i));
  }
  return variance_of(a, 4, 0, b, 4, 0, (u64)n, (u64)divisor, 0, fits);
}

// Sums of squares of doubles, in the limbs of add_exact, which see for Checked: exact, but for what lies below 2^-1074. True, too, for squares that are too large.
RADISH_FN bool has_square(f64 x) { return ((as_bits(x) >> 52) & 0x7ff) < 1023 + 500; } // |x| < 2^500
template <bool Checked>
RADISH_FN bool add_square(i64* sum, f64 x) {
  if (!has_square(x)) return true;
  const Taken t = take_apart(x);
  // The square is worth mantissa^2 * 2^(2 * exponent - 2148), a bit of the limbs 2^(at - 1074).
  u128 square = (u128)t.mantissa * t.mantissa;
  int at = 2 * t.exponent - 1074;
  if (at < 0) {
    square = at > -128 ? square >> -at : 0;
    at = 0;
  }
  if (square == 0) return false;
  const int shift = at & 31;
  const u128 low = square << shift;
  const u32 high = shift ? (u32)(square >> (128 - shift)) : 0;
  i64* limb = sum + (at >> 5);
  bool full = false;
  RADISH_UNROLL
  for (int i = 0; i < 5; i++) {
    const u32 part = i < 4 ? (u32)(low >> (32 * i)) : high;
    if (part == 0) continue;
    const i64 before = atomic_add(limb + i, (i64)part);
    if (Checked) full |= before >> 62 != 0;
  }
  return full;
}

// A square that fits a window: its lowest 64 bits, and what lies above them. They are added up apart, so that each is an integer of 128 bits.
struct SquareTerm {
  u64 low;
  i128 high;
};
// The bit of a sum's limbs that is worth 1 in units of 2^(2 * (window - 1) - 2148).
RADISH_FN int square_bit(u32 window) { return 2 * ((int)window - 1) - 1074; }
// The square of x in those units; false if x is not an integer of less than 53 + range bits in the window, as of fixed_term, or has_square is false.
RADISH_FN bool square_term(f64 x, u32* window, u32* shared, i32 range, SquareTerm* square) {
  constexpr i32 least = 537; // the first whose square_bit is not below the limbs
  i128 term;
  if (!has_square(x) || !fixed_term(x, window, shared, range, &term, least)) return false;
  const u128 m = magnitude(term);
  const u64 a = (u64)m, b = (u64)(m >> 64);
  const u128 aa = (u128)a * a;
  square->low = (u64)aa;
  square->high = (i128)((aa >> 64) + ((u128)a * b << 1) + ((u128)b * b << 64));
  return true;
}

// The variance of doubles. A sum and its square need a few hundred bits: the highest limbs of both are enough.
RADISH_NOINLINE f64 exact_variance(const i64* sum, i128 fitted, u32 window, const i64* squares, i128 low, i128 high, u32 square_window, i64 n, i64 divisor, bool* fits) {
  constexpr int kept = 13;
  u32 a[exact_limbs + 1], b[exact_limbs + 2];
  carry_limbs(sum, {fitted_in(fitted, window)}, a);
  const int at = square_window ? square_bit(square_window) : 0;
  carry_limbs(squares, {fitted_at(low, at), fitted_at(high, at + 64)}, b);
  b[exact_limbs + 1] = 0;
  int top_a = exact_limbs, top_b = exact_limbs;
  while (top_a >= 0 && a[top_a] == 0) top_a--;
  while (top_b >= 0 && b[top_b] == 0) top_b--;
  if (top_b < 0) {
    if (top_a >= 0) *fits = false;
    return 0;
  }
  // In units of 2^-2148 the squares lie 1074 bits higher: 33 limbs and 18 bits.
  const int from_a = max_of(top_a - kept + 1, 0), from_b = max_of(top_b - kept + 1, 0);
  RADISH_NO_UNROLL
  for (int i = top_b + 1; i >= from_b; i--) b[i] = b[i] << 18 | (i > from_b ? b[i - 1] >> 14 : 0);
  return variance_of(a + from_a, top_a - from_a + 1, from_a, b + from_b, top_b - from_b + 2, from_b + 33, (u64)n, (u64)divisor, -2148, fits);
}
