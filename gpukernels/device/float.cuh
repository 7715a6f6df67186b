// float.cuh: the order of doubles, as sql/types/float.go states it: -infinity, the finite numbers with -0 = 0, infinity, and last NaN,
// which equals every other NaN. The processor's comparisons with NaN are false, so code that compares columns' doubles calls these.
#pragma once
#include "base.cuh"

RADISH_FN bool float_eq(f64 a, f64 b) { return (a == b) | ((a != a) & (b != b)); }
RADISH_FN bool float_lt(f64 a, f64 b) { return (a < b) | ((a == a) & (b != b)); }

// The one of all doubles equal to x that stands for them, and its bits.
RADISH_FN f64 canonical(f64 x) { return x == 0 ? 0.0 : x != x ? as_f64(0x7ff8000000000000ull) : x; }
RADISH_FN u64 float_key(f64 x) { return as_bits(canonical(x)); }

RADISH_FN bool not_finite(f64 x) { return x * 0 != 0; }
// Whether an operation made an infinity or NaN of finite operands, which is an error.
RADISH_FN bool overflows(f64 r, f64 x, f64 y) { return not_finite(r) && !not_finite(x) && !not_finite(y); }
