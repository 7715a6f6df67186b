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

// For loops that may stop early: a row was wrong, or the query is cancelled, for which the host writes a code while kernels run.
RADISH_FN bool raised(const Error* e) { return load_relaxed(&e->code) != 0; }

// For loops over the rows that match a key, of which there may be millions: raised, asked at one row of a thousand or so. A hash of the row's number
// chooses, so that no pattern of keys has only rows that never ask (multiplicative hashing, Knuth, TAOCP 3, 6.4).
RADISH_FN bool raised_at(const Error* e, u32 row) { return (row * 2654435769u) >> 22 == 0 && raised(e); }
