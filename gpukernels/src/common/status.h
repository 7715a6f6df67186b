// status.h: how the inside of a device library fails. Inside, a Failure is thrown; guarded() turns it, and anything else that is
// thrown, into the kind and message of radish_gpu.h at the border.
#pragma once

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <string>

#include "radish_gpu.h"

#define RADISH_API extern "C" __attribute__((visibility("default")))

struct Failure {
  radish_gpu_kind kind;
  int32_t code;
  std::string message;
};

__attribute__((format(printf, 2, 3))) inline Failure failure(radish_gpu_kind kind, const char* format, ...) {
  char text[1900];
  va_list args;
  va_start(args, format);
  std::vsnprintf(text, sizeof text, format, args);
  va_end(args);
  return Failure{kind, 0, text};
}

inline radish_gpu_kind report(radish_gpu_error* err, radish_gpu_kind kind, int32_t code, const char* message) {
  err->kind = kind;
  err->code = code;
  std::snprintf(err->message, sizeof err->message, "%s", message);
  return kind;
}

// Runs f and reports what it throws.
template <typename F>
radish_gpu_kind guarded(radish_gpu_error* err, F f) noexcept {
  try {
    f();
    return RADISH_GPU_OK;
  } catch (const Failure& e) {
    return report(err, e.kind, e.code, e.message.c_str());
  } catch (const std::bad_alloc&) {
    return report(err, RADISH_GPU_OUT_OF_MEMORY, 0, "the host is out of memory");
  } catch (const std::exception& e) {
    return report(err, RADISH_GPU_INTERNAL, 0, e.what());
  } catch (...) {
    return report(err, RADISH_GPU_INTERNAL, 0, "an unknown exception in the device library");
  }
}

// Runs f, which looks whether a peer is there. That the peer is lost says nothing of the device that was called.
template <typename F>
void for_peer(F f) {
  try {
    f();
  } catch (const Failure& e) {
    if (e.kind != RADISH_GPU_DEVICE_LOST) throw;
    throw failure(RADISH_GPU_UNAVAILABLE, "the peer is lost: %.1500s", e.message.c_str());
  }
}

inline void require(bool condition, const char* what) {
  if (!condition) throw failure(RADISH_GPU_USER, "%s", what);
}
