// error.cuh: how a kernel says that a row was wrong. The first error counts; the kernel goes on, and the host runs the query again
// on the CPU, which words the message.
#pragma once
#include "atomic.cuh"

// 16 bytes of device memory, zero before the launch. exec/gpu numbers codes (from 1) and sites (expressions of the pipeline).
struct Error {
  u32 code;
  u32 site;
  u64 count; // of errors raised
};

RADISH_NOINLINE void raise(Error* e, u32 code, u32 site) {
  if (atomic_cas(&e->code, 0u, code) == 0u) e->site = site;
  atomic_add(&e->count, (u64)1);
}

// For loops that may stop early: a row was wrong, or the query was cancelled.
RADISH_FN bool raised(const Error* e) { return load_relaxed(&e->code) != 0; }

// The code of a query that was cancelled; exec/gpu counts those of errors from 1.
constexpr u32 error_cancelled = 0xffffffff;

// Whether a loop is to stop. cancelled is a word of the host's memory, which the host sets while kernels run; who reads that raises it, so that
// the others need not read so far, and the host knows that the result is of no account.
RADISH_NOINLINE bool stopped(Error* e, const u32* cancelled) {
  if (raised(e)) return true;
  if (load_relaxed(cancelled) == 0) return false;
  raise(e, error_cancelled, 0);
  return true;
}

// For loops over the rows that match a key, of which there may be millions: stopped, asked at one row of a thousand or so. A hash of the row's number
// chooses, so that no pattern of keys has only rows that never ask (multiplicative hashing, Knuth, TAOCP 3, 6.4).
RADISH_FN bool stopped_at(Error* e, const u32* cancelled, u32 row) { return (row * 2654435769u) >> 22 == 0 && stopped(e, cancelled); }
