// device.h: what the parts of libradish_gpu share. The CUDA runtime (linked statically) manages memory, streams and events. Of the
// driver only what loads and launches generated kernels is called, through pointers that are looked up at run time (driver.cpp). So
// the library loads, compiles with NVRTC and explains itself on a machine without a driver.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>

#include "status.h"

// The driver's functions that are used. Each name is the exported symbol.
struct Driver {
  decltype(&::cuDriverGetVersion) DriverGetVersion;
  decltype(&::cuGetErrorName) GetErrorName;
  decltype(&::cuGetErrorString) GetErrorString;
  decltype(&::cuDeviceGet) DeviceGet;
  decltype(&::cuDevicePrimaryCtxGetState) DevicePrimaryCtxGetState;
  decltype(&::cuModuleLoadDataEx) ModuleLoadDataEx;
  decltype(&::cuModuleUnload) ModuleUnload;
  decltype(&::cuModuleGetFunction) ModuleGetFunction;
  decltype(&::cuFuncGetAttribute) FuncGetAttribute;
  decltype(&::cuFuncSetAttribute) FuncSetAttribute;
  decltype(&::cuFuncGetParamInfo) FuncGetParamInfo; // null before driver 550 (CUDA 12.4)
  decltype(&::cuOccupancyMaxActiveBlocksPerMultiprocessor) OccupancyMaxActiveBlocksPerMultiprocessor;
  decltype(&::cuLaunchKernel) LaunchKernel;
};

// The loaded driver; throws UNAVAILABLE, saying what to install, if there is none.
const Driver& driver();

// Checks for what device-wide calls need before there is a device.
void check_runtime(cudaError_t code, const char* what);

class ItemLayout;
class PieceLayout;
class Staging;

struct radish_gpu_stream {
  radish_gpu_device* device;
  cudaStream_t stream;
  // The kernels launched since the stream was last found empty, newest last, to name suspects.
  static constexpr int max_names = 8;
  char names[max_names][64];
  int64_t launched = 0;
  void* mailbox = nullptr; // pinned memory for small downloads; null: there was none yet
};

struct radish_gpu_device {
  int32_t ordinal;
  int64_t max_shared; // of a block, the static part included
  cudaMemPool_t pool = nullptr;
  std::unique_ptr<Staging> staging;

  // Makes the device current in this thread; throws DEVICE_LOST if it is lost.
  void use();
  // Throw for a failed call; they recognise a lost device.
  void check(cudaError_t code, const char* what);
  void check(CUresult code, const char* what);

  uint64_t alloc(int64_t bytes, cudaStream_t stream);
  void free(uint64_t address, cudaStream_t stream);

  std::mutex mutex; // guards what follows
  std::string lost;
  std::set<radish_gpu_stream*> streams;
  std::unordered_map<uint64_t, int64_t> sizes;
  int64_t used = 0;
  int64_t fail_in = 0;

 private:
  [[noreturn]] void fail(int32_t code, bool sticky, const char* name, const char* text, const char* what);
};

// Memory of a stream's pool for the time of a library kernel.
class Scratch {
 public:
  Scratch(radish_gpu_stream* stream, int64_t bytes) : stream_(stream), address_(stream->device->alloc(bytes, stream->stream)) {}
  ~Scratch() {
    try {
      stream_->device->free(address_, stream_->stream);
    } catch (...) { // a lost device: its memory is gone anyway
    }
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  void* get() const { return reinterpret_cast<void*>(address_); }
  uint64_t address() const { return address_; }

 private:
  radish_gpu_stream* stream_;
  uint64_t address_;
};

// The copies of uploads and downloads through pinned memory (staging.cpp).
class Staging {
 public:
  virtual ~Staging() = default;
  // Copies bytes between host and device, on the stream. An upload returns when src was read, a download when dst is written.
  virtual void upload(cudaStream_t stream, uint64_t dst, const void* src, int64_t bytes) = 0;
  virtual void upload(cudaStream_t stream, uint64_t dst, const ItemLayout& src) = 0;
  virtual void download(cudaStream_t stream, void* dst, uint64_t src, int64_t bytes) = 0;
  virtual void download(cudaStream_t stream, const PieceLayout& dst, uint64_t src) = 0;
  // Pinned memory of RADISH_GPU_MAILBOX bytes. It is given back when no copy writes to it any more.
  virtual void* mailbox() = 0;
  virtual void give_mailbox(void* pinned) = 0;
  static std::unique_ptr<Staging> make(radish_gpu_device* device);
};
