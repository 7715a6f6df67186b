// warp.cuh: what the threads of a warp and of a block do together: votes, shuffles, reductions, prefix sums, and counters that
// are bumped once for many threads. With one thread a warp each of them is what it means for one thread.
#pragma once
#include "atomic.cuh"
#include "thread.cuh"

#ifdef RADISH_EMULATED

RADISH_FN i32 lane() { return 0; }
RADISH_FN u32 full_mask() { return 1; }
RADISH_FN u32 active_mask() { return 1; }
RADISH_FN u32 lanes_below() { return 0; }
RADISH_FN u32 ballot(u32, bool x) { return x; }
RADISH_FN bool warp_any(u32, bool x) { return x; }
RADISH_FN bool warp_all(u32, bool x) { return x; }
RADISH_FN void warp_barrier(u32) {}
template <typename T>
RADISH_FN u32 match_any(u32, T) {
  return 1;
}
template <typename T>
RADISH_FN T shuffle(u32, T x, i32) {
  return x;
}
template <typename T>
RADISH_FN T shuffle_xor(u32, T x, i32) {
  return x;
}
template <typename T>
RADISH_FN T shuffle_up(u32, T x, i32) {
  return x;
}

#else

RADISH_FN i32 lane() { return (i32)(threadIdx.x & (RADISH_WARP - 1)); }
RADISH_FN u32 full_mask() { return 0xffffffffu; }
// The threads of the warp that are here together just now.
RADISH_FN u32 active_mask() { return __activemask(); }
RADISH_FN u32 lanes_below() { return (1u << lane()) - 1; }
// mask names the threads that take part: all of them must come here.
RADISH_FN u32 ballot(u32 mask, bool x) { return __ballot_sync(mask, x); }
RADISH_FN bool warp_any(u32 mask, bool x) { return __any_sync(mask, x); }
RADISH_FN bool warp_all(u32 mask, bool x) { return __all_sync(mask, x); }
RADISH_FN void warp_barrier(u32 mask) { __syncwarp(mask); }
// The threads of mask whose x is the same as this one's.
RADISH_FN u32 match_any(u32 mask, u32 x) { return __match_any_sync(mask, x); }
RADISH_FN u32 match_any(u32 mask, u64 x) { return __match_any_sync(mask, x); }

// Any type of whole 32-bit words travels a word at a time.
template <typename T>
union Words32 {
  T value;
  u32 word[sizeof(T) / 4];
  RADISH_FN Words32() {}
};
template <typename T>
RADISH_FN T shuffle(u32 mask, T x, i32 from) {
  static_assert(sizeof(T) % 4 == 0, "whole words");
  Words32<T> in, out;
  in.value = x;
  RADISH_UNROLL
  for (int i = 0; i < (int)(sizeof(T) / 4); i++) out.word[i] = __shfl_sync(mask, in.word[i], from);
  return out.value;
}
RADISH_FN u64 shuffle(u32 mask, u64 x, i32 from) { return __shfl_sync(mask, x, from); } // less to compile
template <typename T>
RADISH_FN T shuffle_xor(u32 mask, T x, i32 distance) {
  static_assert(sizeof(T) % 4 == 0, "whole words");
  Words32<T> in, out;
  in.value = x;
  RADISH_UNROLL
  for (int i = 0; i < (int)(sizeof(T) / 4); i++) out.word[i] = __shfl_xor_sync(mask, in.word[i], distance);
  return out.value;
}
template <typename T>
RADISH_FN T shuffle_up(u32 mask, T x, i32 distance) {
  static_assert(sizeof(T) % 4 == 0, "whole words");
  Words32<T> in, out;
  in.value = x;
  RADISH_UNROLL
  for (int i = 0; i < (int)(sizeof(T) / 4); i++) out.word[i] = __shfl_up_sync(mask, in.word[i], distance);
  return out.value;
}

#endif

struct Sum {
  template <typename T>
  RADISH_FN T operator()(T a, T b) const {
    return a + b;
  }
};
struct Min {
  template <typename T>
  RADISH_FN T operator()(T a, T b) const {
    return min_of(a, b);
  }
};
struct Max {
  template <typename T>
  RADISH_FN T operator()(T a, T b) const {
    return max_of(a, b);
  }
};
struct And {
  template <typename T>
  RADISH_FN T operator()(T a, T b) const {
    return a & b;
  }
};
struct Or {
  template <typename T>
  RADISH_FN T operator()(T a, T b) const {
    return a | b;
  }
};
struct Xor {
  template <typename T>
  RADISH_FN T operator()(T a, T b) const {
    return a ^ b;
  }
};

// All threads of the warp come here with a value; every one gets the whole warp's.
template <typename T, typename Op>
RADISH_FN T warp_reduce(T x, Op op) {
  RADISH_NO_UNROLL
  for (int d = RADISH_WARP / 2; d > 0; d /= 2) x = op(x, shuffle_xor(full_mask(), x, d));
  return x;
}

// The sum over the lanes of the warp up to this one. All threads of the warp come here. The barrier tells ptxas so: where it does not know, it writes shuffles twice.
template <typename T>
RADISH_FN T warp_sums(T x) {
  warp_barrier(full_mask());
  RADISH_UNROLL
  for (int d = 1; d < RADISH_WARP; d *= 2) {
    T below = shuffle_up(full_mask(), x, d);
    if (lane() >= d) x += below;
  }
  return x;
}
#ifndef RADISH_EMULATED
RADISH_FN u32 warp_sums(u32 x) { // a shuffle says itself whether there is such a lane
  warp_barrier(full_mask());
  RADISH_UNROLL
  for (int d = 1; d < RADISH_WARP; d *= 2) {
    asm volatile("{ .reg .u32 below; .reg .pred there; shfl.sync.up.b32 below|there, %0, %1, 0, 0xffffffff; @there add.u32 %0, %0, below; }" : "+r"(x) : "r"(d));
  }
  return x;
}
#endif

// The sum over the lower lanes of the warp and, in *total, over all lanes. All threads of the warp come here.
template <typename T>
RADISH_FN T warp_prefix(T x, T* total) {
  const T sum = warp_sums(x);
  *total = shuffle(full_mask(), sum, RADISH_WARP - 1);
  return sum - x;
}

// The sum of a word of each lane. All threads of the warp come here, and all get it.
RADISH_FN u32 warp_total(u32 x) {
#if !defined(RADISH_EMULATED) && __CUDA_ARCH__ >= 800
  u32 sum;
  asm volatile("redux.sync.add.u32 %0, %1, 0xffffffff;" : "=r"(sum) : "r"(x));
  return sum;
#else
  return warp_reduce(x, Sum());
#endif
}

// All threads of the block come here with a value; thread 0 gets the whole block's, the others something else. Ends with a barrier.
template <typename T, typename Op>
RADISH_FN T block_reduce(T x, Op op) {
  RADISH_SHARED T of_warp[RADISH_BLOCK / RADISH_WARP];
  x = warp_reduce(x, op);
  if (lane() == 0) of_warp[thread_index() / RADISH_WARP] = x;
  block_barrier();
  if (thread_index() == 0) {
    RADISH_NO_UNROLL
    for (int i = 1; i < RADISH_BLOCK / RADISH_WARP; i++) x = op(x, of_warp[i]);
  }
  block_barrier();
  return x;
}

// The sum over the lower threads of the block and, in *total, over all. All threads of the block come here. Ends with a barrier.
template <typename T>
RADISH_FN T block_prefix(T x, T* total) {
  constexpr int warps = RADISH_BLOCK / RADISH_WARP;
  RADISH_SHARED T of_warp[warps];
  const T sum = warp_sums(x);
  if (lane() == RADISH_WARP - 1) of_warp[thread_index() / RADISH_WARP] = sum;
  block_barrier();
  T below = 0, all = 0;
  if constexpr (sizeof(T) == 4 && warps <= RADISH_WARP) { // each lane takes a warp's
    const T one = lane() < warps ? of_warp[lane()] : 0;
    all = (T)warp_total((u32)one);
    below = (T)warp_total(lane() < thread_index() / RADISH_WARP ? (u32)one : 0);
  } else {
    RADISH_NO_UNROLL
    for (int i = 0; i < warps; i++) {
      if (i < thread_index() / RADISH_WARP) below += of_warp[i];
      all += of_warp[i];
    }
  }
  block_barrier();
  *total = all;
  return below + sum - x;
}

// Slots in an array of rows. The counter may run past the array's end, so that the host learns how large the array must be:
// compare what comes back with the capacity before writing.

// One slot for each thread that comes here, whichever they are: one atomic a group of threads that arrive together.
RADISH_FN u64 append(u64* counter) {
  const u32 here = active_mask(), below = (u32)popcount(here & lanes_below());
  u64 first = 0;
  if (below == 0) first = atomic_add(counter, (u64)popcount(here));
  return shuffle(here, first, first_bit(here) - 1) + below;
}

// n slots for each thread; all threads of the warp come here.
RADISH_FN u64 warp_append(u64* counter, u32 n) {
  u32 total;
  u32 below = warp_prefix(n, &total);
  u64 first = 0;
  if (lane() == 0 && total > 0) first = atomic_add(counter, (u64)total);
  return shuffle(full_mask(), first, 0) + below;
}

// n slots for each thread; all threads of the block come here. Ends with a barrier.
RADISH_FN u64 block_append(u64* counter, u32 n) {
  RADISH_SHARED u64 first;
  u32 total;
  u32 below = block_prefix(n, &total);
  if (thread_index() == 0) first = total > 0 ? atomic_add(counter, (u64)total) : 0;
  block_barrier();
  u64 at = first + below;
  block_barrier();
  return at;
}

// The number of the next piece of work. All threads of the block come here, and have left the piece before.
RADISH_FN u32 take_work(u32* next) {
  RADISH_SHARED u32 taken;
  block_barrier();
  if (thread_index() == 0) taken = atomic_add(next, 1u);
  block_barrier();
  return taken;
}
