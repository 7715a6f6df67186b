// error.cuh: how a kernel says that a row was wrong. The first error counts; the kernel goes on, and the host runs the query again
// on the CPU, which words the message.
#pragma once
#include "atomic.cuh"
#ifdef RADISH_EMULATED
#include <time.h>
#endif

// 16 bytes of device memory, zero before the launch. exec/gpu numbers codes (from 1) and sites (expressions of the pipeline).
struct Error {
  u64 first; // the code of the first error in the low half, its site in the high half
  u64 asked; // when the host's word was read last, see stopped
};

// One instruction, and so no call: a call takes registers of all that is alive around it, and the compiler's time.
RADISH_FN void raise(Error* e, u32 code, u32 site) { atomic_cas(&e->first, (u64)0, (u64)site << 32 | code); }

// For loops that may stop early: a row was wrong, or the query was cancelled.
RADISH_FN bool raised(const Error* e) { return (u32)load_relaxed(&e->first) != 0; }

// The code of a query that was cancelled; exec/gpu counts those of errors from 1.
constexpr u32 error_cancelled = 0xffffffff;

// A clock that all threads share.
RADISH_FN u64 nanoseconds() {
#ifdef RADISH_EMULATED
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (u64)now.tv_sec * 1000000000 + (u64)now.tv_nsec;
#else
  u64 now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
#endif
}

// Whether a loop is to stop. cancelled is a word of the host's memory, which the host sets while kernels run. Reads of it cross the bus, one after the other
// (three million a second on an H200), so one thread of all reads it each millisecond. Who finds it set raises that, which the others see in
// the device's memory, and the host knows that the result is of no account. (The difference has a sign: the time may be taken before another thread's is loaded.)
RADISH_NOINLINE bool stopped(Error* e, const u32* cancelled) {
  if (raised(e)) return true;
  const u64 asked = load_relaxed(&e->asked), now = nanoseconds();
  if ((i64)(now - asked) < 1000000 || atomic_cas(&e->asked, asked, now) != asked || load_relaxed(cancelled) == 0) return false;
  raise(e, error_cancelled, 0);
  return true;
}

// For loops over the rows that match a key, of which there may be millions: stopped, asked at one row of a thousand or so. A hash of the row's number
// chooses, so that no pattern of keys has only rows that never ask (multiplicative hashing, Knuth, TAOCP 3, 6.4); the first is row 150, so that loops over
// fewer, which are short, do not ask each time.
RADISH_FN bool stopped_at(Error* e, const u32* cancelled, u32 row) { return ((row + 460) * 2654435769u) >> 22 == 0 && stopped(e, cancelled); }
