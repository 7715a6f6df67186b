// base.cuh: what everything else in this folder stands on: types, and the macros that let one source be compiled by NVRTC (or
// nvcc) for a GPU and, with -DRADISH_EMULATED, by a C++17 compiler for the processor, one thread a block. No system header is
// included: NVRTC has none, and g++ is quick without.
#pragma once

typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef float f32;
typedef double f64;
typedef __int128 i128;
typedef unsigned __int128 u128;

// A string: size bytes at data, which belong to someone else.
struct alignas(16) view {
  const u8* data;
  i64 size;
};

static_assert(sizeof(i64) == 8 && sizeof(void*) == 8 && sizeof(view) == 16, "the host counts on these widths");

// RADISH_BLOCK: threads of a block. RADISH_WARP: threads of a warp. RADISH_ITEMS: rows that a thread takes at once.
// RADISH_BLOCKS: blocks that a multiprocessor has to have registers for.
// The host launches with RADISH_BLOCK threads; a source that wants other numbers defines them before it includes radish.cuh.
#ifdef RADISH_EMULATED
#undef RADISH_BLOCK
#undef RADISH_WARP
#define RADISH_BLOCK 1
#define RADISH_WARP 1
#endif
#ifndef RADISH_BLOCK
#define RADISH_BLOCK 256
#endif
#ifndef RADISH_BLOCKS
#define RADISH_BLOCKS 1
#endif
#ifndef RADISH_WARP
#define RADISH_WARP 32
#endif
#ifndef RADISH_ITEMS
#define RADISH_ITEMS 4
#endif
static_assert(RADISH_BLOCK % RADISH_WARP == 0, "a block is made of whole warps");

// RADISH_FN: before every function of these headers and every helper that a generated source defines.
// RADISH_NOINLINE: the same for large functions that are called from several sites.
// RADISH_LONG: RADISH_NOINLINE in kernels that somebody waits for, which are compiled in a hurry (gpukernels/compilers.go, QuickOptions), else RADISH_FN.
// RADISH_SHORT: whether the kernel is such a one, so that less code is better than quicker code.
// RADISH_SHARED: a variable in shared memory, inside a function. The next block finds what the last one left: set it first.
// RADISH_GLOBAL_CONST: a constant table at file scope.
#ifdef RADISH_EMULATED
#define RADISH_FN inline __attribute__((always_inline))
#define RADISH_NOINLINE inline __attribute__((noinline))
#define RADISH_SHARED static thread_local
#define RADISH_GLOBAL_CONST static const
#define RADISH_UNROLL
#define RADISH_NO_UNROLL
#else
#define RADISH_FN __device__ __forceinline__
#define RADISH_NOINLINE __device__ __noinline__
#define RADISH_SHARED __shared__
#define RADISH_GLOBAL_CONST __device__ const
#define RADISH_UNROLL _Pragma("unroll")
#define RADISH_NO_UNROLL _Pragma("unroll 1")
#endif
#ifdef RADISH_QUICK
#define RADISH_LONG RADISH_NOINLINE
#define RADISH_SHORT true
#else
#define RADISH_LONG RADISH_FN
#define RADISH_SHORT false
#endif

#define RADISH_STRING_2(x) #x
#define RADISH_STRING(x) RADISH_STRING_2(x)

// The parameters of a kernel: words of 64 bits, whatever they mean.
template <int Words>
struct Params {
  u64 w[Words];
};

// A word of the parameters as an address, a double, two words as a 128-bit integer (low word first).
template <typename T>
RADISH_FN T* as_pointer(u64 word) {
  return reinterpret_cast<T*>(word);
}
// Copies bytes between objects of different types. n is a constant, so that it becomes moves between registers.
#ifdef RADISH_EMULATED
#define copy_bytes(to, from, n) __builtin_memcpy(to, from, n)
RADISH_FN f64 as_f64(u64 word) {
  f64 x;
  __builtin_memcpy(&x, &word, sizeof x);
  return x;
}
RADISH_FN u64 as_bits(f64 x) {
  u64 word;
  __builtin_memcpy(&word, &x, sizeof word);
  return word;
}
#else
#define copy_bytes(to, from, n) memcpy(to, from, n)
RADISH_FN f64 as_f64(u64 word) { return __longlong_as_double((i64)word); }
RADISH_FN u64 as_bits(f64 x) { return (u64)__double_as_longlong(x); }
#endif
RADISH_FN i128 as_i128(u64 low, u64 high) { return (i128)(((u128)high << 64) | low); }

template <typename T>
RADISH_FN T min_of(T a, T b) {
  return b < a ? b : a;
}
template <typename T>
RADISH_FN T max_of(T a, T b) {
  return a < b ? b : a;
}
template <typename T>
RADISH_FN void swap_values(T& a, T& b) {
  T t = a;
  a = b;
  b = t;
}

// 1 / x to within 2^-50, of a normal x whose reciprocal is normal.
RADISH_FN f64 reciprocal(f64 x) {
#ifdef RADISH_EMULATED
  return 1 / x;
#else
  f64 y; // 20 bits; each step of Newton's doubles them
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
  y += y * (1 - x * y);
  return y + y * (1 - x * y);
#endif
}
RADISH_FN f64 nearly(u128 x) { return (f64)(u64)(x >> 64) * 18446744073709551616.0 + (f64)(u64)x; }

// a / b, of b > 0. A turn subtracts what doubles say of the quotient, less more than their error: 44 bits of it, so there are five turns at most, and one or
// two where the quotient is short. Short kernels make it bit by bit. A call, and no operator /, which is three times as many instructions to compile.
RADISH_NOINLINE u128 quotient(u128 a, u128 b) {
  if (RADISH_SHORT) {
    u128 rest = 0;
    RADISH_NO_UNROLL
    for (i32 i = 0; i < 128; i++) { // a's bits leave it at its top and the quotient's come in below
      const bool more = rest >> 127;
      rest = rest << 1 | a >> 127;
      a <<= 1;
      if (more || rest >= b) {
        rest -= b;
        a |= 1;
      }
    }
    return a;
  }
  const f64 share = reciprocal(nearly(b)) * (1 - 1.0 / (1ull << 46));
  u128 q = 0;
  RADISH_NO_UNROLL
  while (a >= b) {
    const u64 bits = as_bits(nearly(a) * share);
    const i32 shift = (i32)(bits >> 52) - 1075; // the double is mantissa * 2^shift
    const u64 mantissa = (bits & 0xfffffffffffffull) | 1ull << 52;
    u128 part = shift < 0 ? mantissa >> min_of(-shift, 63) : (u128)mantissa << shift;
    if (part == 0) part = 1;
    a -= part * b;
    q += part;
  }
  return q;
}

// Bits. The counts of zeros are the type's width for 0; first_bit(0) is 0 and else the lowest set bit's number, from 1.
#ifdef RADISH_EMULATED
RADISH_FN i32 popcount(u32 x) { return __builtin_popcount(x); }
RADISH_FN i32 popcount(u64 x) { return __builtin_popcountll(x); }
RADISH_FN i32 leading_zeros(u32 x) { return x ? __builtin_clz(x) : 32; }
RADISH_FN i32 leading_zeros(u64 x) { return x ? __builtin_clzll(x) : 64; }
RADISH_FN i32 first_bit(u32 x) { return __builtin_ffs((i32)x); }
RADISH_FN i32 first_bit(u64 x) { return __builtin_ffsll((i64)x); }
RADISH_FN u64 mul_high(u64 a, u64 b) { return (u64)(((u128)a * b) >> 64); }
RADISH_FN u32 high_word(u64 x) { return (u32)(x >> 32); }
RADISH_FN u32 byte_permute(u32 a, u32 b, u32 selector) { // as PTX's prmt in its default mode, without sign replication
  u64 both = ((u64)b << 32) | a;
  u32 out = 0;
  for (int i = 0; i < 4; i++) out |= (u32)((both >> (8 * ((selector >> (4 * i)) & 7))) & 0xff) << (8 * i);
  return out;
}
#else
RADISH_FN i32 popcount(u32 x) { return __popc(x); }
RADISH_FN i32 popcount(u64 x) { return __popcll(x); }
RADISH_FN i32 leading_zeros(u32 x) { return __clz((i32)x); }
RADISH_FN i32 leading_zeros(u64 x) { return __clzll((i64)x); }
RADISH_FN i32 first_bit(u32 x) { return __ffs((i32)x); }
RADISH_FN i32 first_bit(u64 x) { return __ffsll((i64)x); }
RADISH_FN u64 mul_high(u64 a, u64 b) { return __umul64hi(a, b); }
RADISH_FN u32 high_word(u64 x) { // a register, with which the compiler makes no comparison of 64 bits
  u32 low, high;
  asm("mov.b64 {%0, %1}, %2;" : "=r"(low), "=r"(high) : "l"(x));
  return high;
}
RADISH_FN u32 byte_permute(u32 a, u32 b, u32 selector) { return __byte_perm(a, b, selector); }
#endif

// Bit i of a bitmap of less than 2^32 words of 32 bits.
RADISH_FN bool bit_at(const u32* words, i64 i) { return (words[(u32)((u64)i >> 5)] >> ((u32)i & 31)) & 1; }
