// thread.cuh: who a thread is, how a block meets, its dynamic shared memory, and how a kernel is declared.
//
//   RADISH_KERNEL(pipeline, 17) { ... p.w[16] ... }
//
// declares a kernel of that name whose parameter p is a Params<17>.
#pragma once
#include "base.cuh"

#ifdef RADISH_EMULATED

// How libradish_emulated calls a kernel; the struct is repeated in src/emulated/module.cpp.
struct EmulatedLaunch {
  i64 grid;
  i64 shared_bytes;
  u8* shared;
  bool backward; // the last block runs first
  void (*stop)(const char* message); // ends the launch; does not return
};
static thread_local const EmulatedLaunch* emulated_launch;
static thread_local i64 emulated_block;

// Shared memory starts as garbage in every block.
#define RADISH_KERNEL(name, words)                                                          \
  static void name##_block(const Params<words>& p);                                         \
  extern "C" void name(const void* params, const EmulatedLaunch* launch) {                  \
    emulated_launch = launch;                                                               \
    for (i64 i = 0; i < launch->grid; i++) {                                                \
      emulated_block = launch->backward ? launch->grid - 1 - i : i;                         \
      __builtin_memset(launch->shared, 0xA5, launch->shared_bytes);                         \
      name##_block(*static_cast<const Params<words>*>(params));                             \
    }                                                                                       \
  }                                                                                         \
  extern "C" const int name##_words = words;                                                \
  static void name##_block(const Params<words>& p)

RADISH_FN i32 thread_index() { return 0; }
RADISH_FN i64 block_index() { return emulated_block; }
RADISH_FN i64 grid_size() { return emulated_launch->grid; }
RADISH_FN void block_barrier() {}
RADISH_FN bool block_any(bool x) { return x; }
RADISH_FN void fence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
RADISH_FN u8* shared_memory() { return emulated_launch->shared; }
[[noreturn]] inline void trap(const char* message) {
  emulated_launch->stop(message);
  __builtin_unreachable();
}

// What -fsanitize calls on what a GPU would fault on or answer with garbage. Each gets a record that begins with the position in the source.
struct SanitizedPosition {
  const char* file;
  u32 line, column;
};
[[noreturn]] inline void sanitized(const void* record, const char* what) {
  static thread_local char message[512];
  const SanitizedPosition* at = static_cast<const SanitizedPosition*>(record);
  __builtin_snprintf(message, sizeof message, "%s at %.300s:%u:%u", what, at->file ? at->file : "?", at->line, at->column);
  trap(message);
}
extern "C" {
[[noreturn]] __attribute__((weak)) void __ubsan_handle_type_mismatch_v1_abort(void* r, void* p) { sanitized(r, p ? "a misaligned access" : "an access through a null pointer"); }
[[noreturn]] __attribute__((weak)) void __ubsan_handle_shift_out_of_bounds_abort(void* r, void*, void*) { sanitized(r, "a shift by a negative or too large count"); }
[[noreturn]] __attribute__((weak)) void __ubsan_handle_divrem_overflow_abort(void* r, void*, void*) { sanitized(r, "a division by zero or overflowing"); }
[[noreturn]] __attribute__((weak)) void __ubsan_handle_out_of_bounds_abort(void* r, void*) { sanitized(r, "an index outside its array"); }
}

#else

#define RADISH_KERNEL(name, words) extern "C" __global__ void __launch_bounds__(RADISH_BLOCK, RADISH_BLOCKS) name(const __grid_constant__ Params<words> p)

extern __shared__ __align__(16) u8 radish_dynamic_shared[];

RADISH_FN i32 thread_index() { return (i32)threadIdx.x; }
RADISH_FN i64 block_index() { return (i64)blockIdx.x; }
RADISH_FN i64 grid_size() { return (i64)gridDim.x; }
RADISH_FN void block_barrier() { __syncthreads(); }
// A barrier too. The vote, which changes nothing, tells ptxas that the threads of a warp go on together: where it does not know, it writes what they do together twice.
RADISH_FN bool block_any(bool x) { return __any_sync(0xffffffffu, __syncthreads_or(x)); }
RADISH_FN void fence() { __threadfence(); }
RADISH_FN u8* shared_memory() { return radish_dynamic_shared; }
RADISH_FN void trap(const char*) { __trap(); }

#endif

// For defects of ours that must not go on: ends the kernel and loses the device.
#define RADISH_ASSERT(condition) \
  do {                           \
    if (!(condition)) trap(__FILE__ ":" RADISH_STRING(__LINE__) ": " #condition); \
  } while (0)

// The dynamic shared memory from a byte offset on, which must suit T's alignment.
template <typename T>
RADISH_FN T* shared_at(i64 offset) {
  return reinterpret_cast<T*>(shared_memory() + offset);
}

// The thread's number and the number of threads in the whole grid.
RADISH_FN i64 global_thread() { return block_index() * RADISH_BLOCK + thread_index(); }
RADISH_FN i64 global_threads() { return grid_size() * RADISH_BLOCK; }
