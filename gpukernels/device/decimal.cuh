// decimal.cuh: DECIMALs, which are unscaled integers of 64 or 128 bits; their scales belong to their types. Rounding goes half away
// from zero. Functions that return bool return true where the result is out of range. sql/types/decimal.go is what they agree with.
#pragma once
#include "arith.cuh"

// 10^n for n up to 38.
RADISH_FN constexpr i128 pow10(int n) {
  i128 p = 1;
  RADISH_NO_UNROLL
  while (n-- > 0) p *= 10;
  return p;
}

// |x| < 10^Digits.
template <int Digits>
RADISH_FN bool fits_decimal(i128 x) {
  constexpr i128 limit = pow10(Digits);
  return x < limit && x > -limit;
}
RADISH_NOINLINE bool fits_digits(i128 x, int digits) {
  i128 limit = pow10(digits);
  return x < limit && x > -limit;
}

// The quotient of a 256-bit number by v, where high < v, with the remainder. Few numbers have a high half, so their quotient is made bit by bit, which is little
// code.
RADISH_NOINLINE u128 div_256(u128 high, u128 low, u128 v, u128& rest) {
  if (!RADISH_SHORT && high == 0) {
    if ((u64)(low >> 64) == 0 && (u64)(v >> 64) == 0) {
      const u64 q = (u64)low / (u64)v;
      rest = (u64)low - q * (u64)v;
      return q;
    }
    const u128 q = quotient(low, v);
    rest = low - q * v;
    return q;
  }
  RADISH_NO_UNROLL
  for (int i = 0; i < 128; i++) { // low's bits leave it at its top and the quotient's come in below
    const bool more = high >> 127;
    high = high << 1 | low >> 127;
    low <<= 1;
    if (more || high >= v) {
      high -= v;
      low |= 1;
    }
  }
  rest = high;
  return low;
}

// x / 10^N rounded, or cut toward zero.
template <int N>
RADISH_FN i64 div_pow10(i64 x) {
  if constexpr (N > 18) {
    constexpr i128 p = pow10(N);
    return 2 * (i128)magnitude(x) >= p ? (x < 0 ? -1 : 1) : 0;
  } else {
    constexpr i64 p = (i64)pow10(N);
    i64 q = x / p, r = x - q * p;
    if (N > 0) q += (r >= p / 2 ? 1 : 0) - (-r >= p / 2 ? 1 : 0);
    return q;
  }
}
template <int N>
RADISH_FN i64 cut_pow10(i64 x) {
  if constexpr (N > 18) return 0;
  return x / (i64)pow10(N > 18 ? 18 : N);
}

RADISH_NOINLINE i128 div_pow10_long(i128 x, int n, bool cut) {
  if (n > 38) return 0;
  u128 p = (u128)pow10(n), rest;
  u128 q = div_256(0, magnitude(x), p, rest);
  if (!cut && 2 * rest >= p) q++;
  return (i128)(x < 0 ? -q : q);
}
template <int N>
RADISH_FN i128 div_pow10(i128 x) {
  if (N <= 18 && fits_i64(x)) return div_pow10<N <= 18 ? N : 0>((i64)x);
  return div_pow10_long(x, N, false);
}

// A value at another scale.
template <int From, int To>
RADISH_FN bool rescale(i128 x, i128& r) {
  if constexpr (To - From > 38) {
    r = 0;
    return x != 0;
  } else if constexpr (To >= From) {
    constexpr i128 p = pow10(To - From);
    return mul_i128(x, p, r);
  } else {
    r = div_pow10<From - To>(x);
    return false;
  }
}

// a + b or a - b at scale Common, with Drop digits rounded away; the result has at most Digits.
template <int UpA, int UpB, int Drop, int Digits>
RADISH_FN bool add_decimal(i128 a, i128 b, bool minus, i128& r) {
  bool over = false;
  if (UpA > 0) over |= mul_i128(a, pow10(UpA), a);
  if (UpB > 0) over |= mul_i128(b, pow10(UpB), b);
  over |= minus ? sub_i128(a, b, r) : add_i128(a, b, r);
  if (Drop > 0) r = div_pow10<Drop>(r);
  return over | !fits_decimal<Digits>(r);
}

// a * b with drop digits rounded away. The product is exact before it is rounded.
RADISH_NOINLINE bool mul_decimal_long(i128 a, i128 b, int drop, i128& r) {
  u128 high, low, rest;
  mul_u128(magnitude(a), magnitude(b), high, low);
  bool negative = (a < 0) != (b < 0);
  if (drop <= 0) return signed_of(low, negative, r) | (high != 0);
  int first = drop > 38 ? 38 : drop;
  u128 p = (u128)pow10(first);
  r = 0;
  if (high >= p) return true;
  u128 q = div_256(high, low, p, rest);
  if (drop > 38) { // what the first step cut away cannot change how the second rounds
    p = (u128)pow10(drop - 38);
    q = div_256(0, q, p, rest);
  }
  if (2 * rest >= p) q++;
  return signed_of(q, negative, r);
}
// The same without digits to round away, a third of the code; the product is less than limit, which is 10^38 at most.
RADISH_NOINLINE bool mul_decimal_whole(i128 a, i128 b, u128 limit, i128& r) {
  u128 high, low;
  mul_u128(magnitude(a), magnitude(b), high, low);
  r = (i128)((a < 0) != (b < 0) ? -low : low);
  return high != 0 || low >= limit;
}
template <int Drop, int Digits>
RADISH_FN bool mul_decimal(i128 a, i128 b, i128& r) {
  if constexpr (Drop == 0) {
    if (fits_i64(a) && fits_i64(b)) {
      r = (i128)(i64)a * (i64)b;
      return Digits < 38 && !fits_decimal<Digits>(r); // 2^126 < 10^38
    }
    constexpr u128 limit = (u128)pow10(Digits);
    return mul_decimal_whole(a, b, limit, r);
  } else {
    return mul_decimal_long(a, b, Drop, r) | !fits_decimal<Digits>(r);
  }
}

// a * 10^up / b, rounded or cut; b is not 0.
RADISH_NOINLINE bool div_decimal_long(i128 a, i128 b, int up, bool cut, i128& r) {
  u128 x = magnitude(a), y = magnitude(b), high, low, rest, q;
  bool negative = (a < 0) != (b < 0);
  r = 0;
  if (up < 0) { // divide by b * 10^-up; if that needs more than 128 bits it is more than twice any |a|
    if (up < -38) return false;
    mul_u128(y, (u128)pow10(-up), high, low);
    if (high != 0) return false;
    y = low;
    q = div_256(0, x, y, rest);
  } else {
    int step = up > 38 ? 38 : up;
    mul_u128(x, (u128)pow10(step), high, low);
    if (high >= y) return true;
    q = div_256(high, low, y, rest);
    if (up > step) {
      cut = false;
      u128 p = (u128)pow10(up - step > 38 ? 38 : up - step), over, scaled;
      mul_u128(q, p, over, scaled);
      if (over != 0) return true;
      mul_u128(rest, p, high, low);
      q = scaled + div_256(high, low, y, rest);
      if (q < scaled) return true;
    }
  }
  if (!cut && rest >= y - rest) {
    if (++q == 0) return true;
  }
  return signed_of(q, negative, r);
}

// a * power / b, rounded or cut; 0 if b is 0. The quotient is less than limit. Neither power nor limit is above 10^38.
RADISH_NOINLINE bool div_decimal_scaled(i128 a, i128 b, u128 power, u128 limit, bool cut, i128& r) {
  const u128 y = magnitude(b);
  r = 0;
  if (y == 0) return false;
  u128 high, low, rest;
  mul_u128(magnitude(a), power, high, low);
  if (high >= y) return true;
  u128 q = div_256(high, low, y, rest);
  if (q >= limit) return true;
  if (!cut && rest >= y - rest) q++;
  r = (i128)((a < 0) != (b < 0) ? -q : q);
  return q == limit;
}

// The quotient with Up more digits, 0 if b is 0; Digits is what the result may have. All quotients of a kernel call the same function: it is some hundred instructions, and most divide totals
// of groups.
template <int Up, bool Cut, int Digits>
RADISH_FN bool div_decimal(i128 a, i128 b, i128& r) {
  if constexpr (Up >= 0 && Up <= 38) {
    constexpr u128 power = (u128)pow10(Up), limit = (u128)pow10(Digits);
    return div_decimal_scaled(a, b, power, limit, Cut, r);
  } else {
    if (b == 0) return r = 0, false;
    return div_decimal_long(a, b, Up, Cut, r) | !fits_decimal<Digits>(r);
  }
}

// a DIV b: up is b's scale less a's.
RADISH_FN bool div_whole(i128 a, i128 b, int up, i128& r) {
  if (b == 0) return r = 0, false;
  if (up == 0 && fits_i64(a) && fits_i64(b)) {
    r = (i64)b == -1 ? -(i128)(i64)a : (i128)((i64)a / (i64)b);
    return false;
  }
  return div_decimal_long(a, b, up, true, r);
}

// a % b at the larger of the scales, with a's sign.
RADISH_NOINLINE i128 mod_decimal(i128 a, int a_scale, i128 b, int b_scale) {
  if (b == 0) return 0;
  u128 x = magnitude(a), y = magnitude(b), high, low, rest;
  if (a_scale > b_scale) {
    mul_u128(y, (u128)pow10(a_scale - b_scale), high, low);
    if (high != 0) return a;
    div_256(0, x, low, rest);
  } else {
    mul_u128(x, (u128)pow10(b_scale - a_scale), high, low);
    u128 top;
    div_256(0, high, y, top);
    div_256(top, low, y, rest);
  }
  return (i128)(a < 0 ? -rest : rest);
}

// -1, 0 or 1 for decimals of any scales, exactly.
RADISH_NOINLINE int compare_decimal(i128 a, int a_scale, i128 b, int b_scale) {
  int swap = 1;
  if (a_scale > b_scale) {
    swap_values(a, b);
    swap_values(a_scale, b_scale);
    swap = -1;
  }
  int sa = (a > 0) - (a < 0), sb = (b > 0) - (b < 0);
  if (sa != sb) return sa < sb ? -swap : swap;
  u128 high, low, y = magnitude(b);
  int up = b_scale - a_scale;
  mul_u128(magnitude(a), (u128)pow10(up > 38 ? 38 : up), high, low);
  int c = high != 0 || low > y ? 1 : low < y ? -1 : 0;
  return c * sa * swap;
}

// ROUND and TRUNCATE of a value of scale from to digits behind the point (which may be negative), at scale to.
RADISH_NOINLINE bool round_decimal(i128 x, int from, i64 digits, int to, bool cut, i128& r) {
  int d = digits < -76 ? -76 : digits > from ? from : (int)digits;
  bool over = false;
  if (from > d) {
    int n = from - d;
    r = 0;
    if (n > 38) return false;
    over |= mul_i128(div_pow10_long(x, n, cut), pow10(n), x);
  }
  r = x;
  if (to >= from) over |= mul_i128(x, pow10(to - from), r);
  else r = div_pow10_long(x, from - to, false);
  return over;
}

// FLOOR (direction -1) and CEIL (1) of a value of a scale.
RADISH_NOINLINE i128 whole_decimal_long(i128 x, int scale, int direction) {
  i128 q = div_pow10_long(x, scale, true);
  i128 rest = wrap_sub(x, wrap_mul(q, pow10(scale)));
  if (direction < 0 ? rest < 0 : rest > 0) q += direction;
  return q;
}
template <int Scale, int Direction>
RADISH_FN i64 whole_decimal(i64 x) {
  constexpr i64 p = (i64)pow10(Scale);
  i64 q = x / p, rest = x - q * p;
  return q + (Direction < 0 ? (rest < 0 ? -1 : 0) : (rest > 0 ? 1 : 0));
}

// 2^e for normal results.
RADISH_FN f64 power_of_2(int e) { return as_f64((u64)(e + 1023) << 52); }

// The double nearest to x / 10^scale. Where both are exact doubles their quotient is rounded once (Clinger 1990); otherwise the
// quotient is brought to 64 bits and more, with one bit for whatever is cut off, and then rounded to 53.
RADISH_NOINLINE f64 decimal_to_double_long(i128 x, int scale) {
  u128 u = magnitude(x), p = (u128)pow10(scale), rest, q;
  if (u == 0) return 0;
  u64 top = (u64)(u >> 64);
  int shift = top ? leading_zeros(top) : 64 + leading_zeros((u64)u);
  u <<= shift;
  u64 p1 = (u64)(p >> 64);
  int more = 127 - (p1 ? leading_zeros(p1) : 64 + leading_zeros((u64)p)); // 2^more <= p, so the quotient has 127 or 128 bits
  q = div_256(more ? u >> (128 - more) : 0, u << more, p, rest);
  int power = -(shift + more);
  bool sticky = rest != 0;
  u64 q1 = (u64)(q >> 64);
  int zeros = q1 ? leading_zeros(q1) : 64 + leading_zeros((u64)q);
  int drop = 128 - zeros - 53; // bits below the double's
  u64 bits;
  if (drop <= 0) {
    bits = (u64)q << -drop;
  } else {
    bits = (u64)(q >> drop);
    u128 cut = q & (((u128)1 << drop) - 1), half = (u128)1 << (drop - 1);
    if (cut > half || (cut == half && (sticky || (bits & 1)))) bits++;
  }
  f64 d = (f64)bits * power_of_2(drop + power);
  return x < 0 ? -d : d;
}
template <int Scale>
RADISH_FN f64 decimal_to_double(i128 x) {
  constexpr i64 exact = 1LL << 53;
  if constexpr (Scale <= 22) {
    constexpr f64 p = (f64)pow10(Scale);
    if (x <= exact && x >= -exact) return (f64)(i64)x / p;
  }
  return decimal_to_double_long(x, Scale);
}
RADISH_FN f64 wide_to_double(i128 x) {
  if (fits_i64(x)) return (f64)(i64)x;
  return decimal_to_double_long(x, 0);
}
