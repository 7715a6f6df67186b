// build.cuh: what joins look rows up in.
//
//   bitmap    a bit at key - min: for semi and anti joins, and to say which slots of a dense array are taken
//   dense     payload at key - min (unique keys), or the first row's number
//   hash      the first row's number at hash & mask; rows of one bucket are chained by next[row]
//   filter    a bit at key - min or at a hash of the key, beside chains, for scans to drop rows by
//
// Row numbers have 32 bits; no_row ends a chain.
#pragma once
#include "atomic.cuh"
#include "thread.cuh"

constexpr u32 no_row = 0xffffffffu;

// Sets bit i; says whether it was set before.
RADISH_FN bool set_bit(u32* words, u64 i) {
  u32 bit = 1u << (i & 31);
  if (load_relaxed(words + (i >> 5)) & bit) return true;
  return atomic_or(words + (i >> 5), bit) & bit;
}

// Puts row in front of a chain.
RADISH_FN void chain(u32* heads, u64 at, u32* next, u32 row) { next[row] = atomic_exchange(heads + at, row); }

// A run of a build's rows that one row of a probe meets, low..high-1, and that threads of a later launch share.
struct PutOff {
  i64 row;
  u32 low, high;
};

// The list of them: their number, and behind it the runs, which are aligned to 16 bytes. The number may run past the capacity.
RADISH_FN PutOff* runs_put_off(u64* list) { return reinterpret_cast<PutOff*>(list + 2); }

// Puts a run off; false: there is no capacity, and the caller follows it.
RADISH_FN bool put_off_run(u64* list, u64 capacity, i64 row, u32 low, u32 high) {
  const u64 at = atomic_add(list, (u64)1);
  if (at >= capacity) return false;
  runs_put_off(list)[at] = PutOff{row, low, high};
  return true;
}

// The row that is so many behind another one, or the end, which is not in front of it.
RADISH_FN u32 run_step(u32 row, u32 by, u32 end) { return end - row > by ? row + by : end; }

// The row of a run that a thread begins with; its end if there is none.
RADISH_FN u32 run_first(u32 low, u32 high, u32 thread) { return low < high ? run_step(low, thread, high) : high; }

// The hash of a key in a build's filter: its highest bits choose the filter's bit (Knuth's multiplicative hashing).
RADISH_FN u32 filter_hash(i64 key) { return ((u32)key ^ (u32)((u64)key >> 32) * 0x85ebca6bu) * 0x9E3779B1u; }

// Copies a filter, of a multiple of four words, to the block's shared memory. A barrier has to follow.
struct alignas(16) FourWords {
  u32 w[4];
};
RADISH_FN u32* copy_filter(u32* to, const u32* from, i32 words) {
  RADISH_NO_UNROLL
  for (i32 i = thread_index(); i < words / 4; i += RADISH_BLOCK) reinterpret_cast<FourWords*>(to)[i] = reinterpret_cast<const FourWords*>(from)[i];
  return to;
}
