// compiler.h: NVIDIA's run-time compiler, found when it is first needed.
#pragma once

#include <cstdint>
#include <string>

// Compiles a source for a compute capability. Throws UNAVAILABLE if there is no NVRTC, and INTERNAL with the compiler's errors. The image is a
// cubin, or PTX (for the driver to compile) if the compiler does not know the chip yet.
std::string nvrtc_compile(int32_t compute_capability, const char* source, const char* include_dir, const char* options);

// The compiler's version and the options that every source is compiled with, as "NVRTC 13.0 -std=c++17 ...".
std::string nvrtc_version();
