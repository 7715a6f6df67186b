// atomic.cuh: relaxed atomics on global and shared memory. Each returns the value from before. Inside shared memory, 32-bit ones
// are instructions; 64-bit additions there are loops of compare-and-swap, ten times slower (docs/internals/group-by.md).
#pragma once
#include "base.cuh"

#ifdef RADISH_EMULATED

template <typename T>
RADISH_FN T atomic_add(T* p, T x) {
  return __atomic_fetch_add(p, x, __ATOMIC_RELAXED);
}
RADISH_FN f64 atomic_add(f64* p, f64 x) {
  f64 old, next;
  __atomic_load(p, &old, __ATOMIC_RELAXED);
  do next = old + x;
  while (!__atomic_compare_exchange(p, &old, &next, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return old;
}
template <typename T>
RADISH_FN T atomic_min(T* p, T x) {
  T old = __atomic_load_n(p, __ATOMIC_RELAXED);
  while (x < old && !__atomic_compare_exchange_n(p, &old, x, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  return old;
}
template <typename T>
RADISH_FN T atomic_max(T* p, T x) {
  T old = __atomic_load_n(p, __ATOMIC_RELAXED);
  while (old < x && !__atomic_compare_exchange_n(p, &old, x, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  return old;
}
template <typename T>
RADISH_FN T atomic_or(T* p, T x) {
  return __atomic_fetch_or(p, x, __ATOMIC_RELAXED);
}
template <typename T>
RADISH_FN T atomic_and(T* p, T x) {
  return __atomic_fetch_and(p, x, __ATOMIC_RELAXED);
}
template <typename T>
RADISH_FN T atomic_xor(T* p, T x) {
  return __atomic_fetch_xor(p, x, __ATOMIC_RELAXED);
}
template <typename T>
RADISH_FN T atomic_exchange(T* p, T x) {
  return __atomic_exchange_n(p, x, __ATOMIC_RELAXED);
}
// Stores desired if the value is expected; it was stored if what comes back equals expected.
template <typename T>
RADISH_FN T atomic_cas(T* p, T expected, T desired) {
  __atomic_compare_exchange_n(p, &expected, desired, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return expected;
}
// Loads and stores that neither the compiler nor the L1 cache may keep: what other blocks wrote is seen.
template <typename T>
RADISH_FN T load_relaxed(const T* p) {
  return __atomic_load_n(p, __ATOMIC_RELAXED);
}
// A load that no later load overtakes.
template <typename T>
RADISH_FN T load_acquire(const T* p) {
  return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}
template <typename T>
RADISH_FN void store_relaxed(T* p, T x) {
  __atomic_store_n(p, x, __ATOMIC_RELAXED);
}

#else

RADISH_FN u32 atomic_add(u32* p, u32 x) { return atomicAdd(p, x); }
RADISH_FN i32 atomic_add(i32* p, i32 x) { return atomicAdd(p, x); }
RADISH_FN u64 atomic_add(u64* p, u64 x) { return atomicAdd(p, x); }
RADISH_FN i64 atomic_add(i64* p, i64 x) { return (i64)atomicAdd((u64*)p, (u64)x); }
RADISH_FN f64 atomic_add(f64* p, f64 x) { return atomicAdd(p, x); }
RADISH_FN u32 atomic_min(u32* p, u32 x) { return atomicMin(p, x); }
RADISH_FN i32 atomic_min(i32* p, i32 x) { return atomicMin(p, x); }
RADISH_FN u64 atomic_min(u64* p, u64 x) { return atomicMin(p, x); }
RADISH_FN i64 atomic_min(i64* p, i64 x) { return atomicMin(p, x); }
RADISH_FN u32 atomic_max(u32* p, u32 x) { return atomicMax(p, x); }
RADISH_FN i32 atomic_max(i32* p, i32 x) { return atomicMax(p, x); }
RADISH_FN u64 atomic_max(u64* p, u64 x) { return atomicMax(p, x); }
RADISH_FN i64 atomic_max(i64* p, i64 x) { return atomicMax(p, x); }
RADISH_FN u32 atomic_or(u32* p, u32 x) { return atomicOr(p, x); }
RADISH_FN u64 atomic_or(u64* p, u64 x) { return atomicOr(p, x); }
RADISH_FN u32 atomic_and(u32* p, u32 x) { return atomicAnd(p, x); }
RADISH_FN u64 atomic_and(u64* p, u64 x) { return atomicAnd(p, x); }
RADISH_FN u32 atomic_xor(u32* p, u32 x) { return atomicXor(p, x); }
RADISH_FN u64 atomic_xor(u64* p, u64 x) { return atomicXor(p, x); }
RADISH_FN u32 atomic_exchange(u32* p, u32 x) { return atomicExch(p, x); }
RADISH_FN u64 atomic_exchange(u64* p, u64 x) { return atomicExch(p, x); }
RADISH_FN u32 atomic_cas(u32* p, u32 expected, u32 desired) { return atomicCAS(p, expected, desired); }
RADISH_FN u64 atomic_cas(u64* p, u64 expected, u64 desired) { return atomicCAS(p, expected, desired); }
template <typename T>
RADISH_FN T load_relaxed(const T* p) {
  return *(const volatile T*)p;
}
RADISH_FN u8 load_acquire(const u8* p) {
  u32 x;
  asm volatile("ld.acquire.gpu.u8 %0, [%1];" : "=r"(x) : "l"(p) : "memory");
  return (u8)x;
}
RADISH_FN u32 load_acquire(const u32* p) {
  u32 x;
  asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(x) : "l"(p) : "memory");
  return x;
}
RADISH_FN u64 load_acquire(const u64* p) {
  u64 x;
  asm volatile("ld.acquire.gpu.u64 %0, [%1];" : "=l"(x) : "l"(p) : "memory");
  return x;
}
template <typename T>
RADISH_FN void store_relaxed(T* p, T x) {
  *(volatile T*)p = x;
}

#endif
