// emulated.h: what the parts of libradish_emulated share. The library implements radish_gpu.h on the processor, for tests: kernels
// are compiled by g++ with one thread a block, every call is done when it returns, and memory is watched.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "status.h"

// The device's memory: blocks with red zones before and behind, garbage when new, and a limit.
class Heap {
 public:
  explicit Heap(int64_t limit) : limit_(limit) {}
  ~Heap();
  uint64_t alloc(int64_t bytes);
  void free(uint64_t address);
  // Throws unless [address, address+bytes) lies within one allocation; what names the argument.
  void check_range(uint64_t address, int64_t bytes, const char* what);
  // Throws if a red zone was written to. blame says who may have done it.
  void check_red_zones(const char* blame);
  int64_t used();
  int64_t limit() const { return limit_; }
  void fail_allocation(int64_t n);

 private:
  struct Block {
    int64_t bytes;
    unsigned char* base;
  };
  void check_block(uint64_t address, const Block& block, const char* blame);

  std::mutex mutex_;
  std::map<uint64_t, Block> blocks_;
  int64_t used_ = 0;
  int64_t limit_;
  int64_t fail_in_ = 0;
};

struct radish_gpu_device {
  radish_gpu_device();
  Heap heap;
  std::mutex mutex;
  std::string lost; // why the device is lost; empty: it is not
  void check();     // throws DEVICE_LOST
  void lose(const std::string& why);
};

struct radish_gpu_stream {
  radish_gpu_device* device;
  std::atomic<bool> busy{false};
  std::vector<char> mailbox;
};

// A call's hold on a stream: refuses two threads at once, and a lost device.
class StreamUse {
 public:
  explicit StreamUse(radish_gpu_stream* stream);
  ~StreamUse() { stream_->busy = false; }
  Heap& heap() { return stream_->device->heap; }

 private:
  radish_gpu_stream* stream_;
};
