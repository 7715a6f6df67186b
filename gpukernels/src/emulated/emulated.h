// emulated.h: what the parts of libradish_emulated share. The library implements radish_gpu.h on the processor, for tests: kernels
// are compiled by g++ with one thread a block, every call is done when it returns, and memory is watched.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "status.h"

// Addresses that one device has for itself, so that they can be taken from kernels of others (peers.cpp). Not safe for concurrent use.
class Region {
 public:
  explicit Region(int64_t bytes);
  ~Region();
  void* alloc(int64_t bytes); // null: no memory is left. A multiple of 256
  void free(void* at, int64_t bytes);
  bool has(uint64_t address) const { return address - begin_ < uint64_t(bytes_); }
  void protect(bool closed); // closed: whoever touches it faults

 private:
  uint64_t begin_;
  int64_t bytes_;
  std::map<uint64_t, int64_t> holes_; // by where they begin
};

// The device's memory: blocks with red zones before and behind, garbage when new, and a limit.
class Heap {
 public:
  // apart: the heap has a Region.
  Heap(int64_t limit, bool apart);
  ~Heap();
  uint64_t alloc(int64_t bytes);
  void free(uint64_t address);
  // Whether [address, address+bytes) lies within one allocation.
  bool has_range(uint64_t address, int64_t bytes);
  // Throws if a red zone was written to. blame says who may have done it.
  void check_red_zones(const char* blame);
  int64_t used();
  int64_t limit() const { return limit_; }
  void fail_allocation(int64_t n);
  Region* region() { return region_.get(); } // null: it has none

 private:
  unsigned char* take(int64_t bytes);
  void give(unsigned char* base, int64_t bytes);
  struct Block {
    int64_t bytes;
    unsigned char* base;
  };
  void check_block(uint64_t address, const Block& block, const char* blame);

  std::mutex mutex_;
  std::unique_ptr<Region> region_;
  std::map<uint64_t, Block> blocks_;
  int64_t used_ = 0;
  int64_t limit_;
  int64_t fail_in_ = 0;
};

struct radish_gpu_device {
  explicit radish_gpu_device(int32_t ordinal);
  ~radish_gpu_device();
  const int32_t ordinal;
  Heap heap;
  std::mutex mutex;
  std::string lost; // why the device is lost; empty: it is not
  std::set<radish_gpu_device*> reached; // other devices whose memory its kernels may touch; the mutex of Peers guards it
  void check();     // throws DEVICE_LOST
  void lose(const std::string& why);
};

struct radish_gpu_stream {
  radish_gpu_device* device;
  std::atomic<bool> busy{false};
  std::vector<char> mailbox;
};

using DeviceSet = std::set<radish_gpu_device*>;

// All opened devices, and whose memory can be touched right now. While a kernel of a device runs, the memory of devices that it has not reached is closed: it
// stops if it touches that. So kernels of devices that do not reach the same ones take turns with each other, and with calls that need what is closed.
class Peers {
 public:
  static Peers& all();
  void add(radish_gpu_device* device);
  void remove(radish_gpu_device* device);
  bool can(radish_gpu_device* device, radish_gpu_device* peer); // peers can be allowed to reach each other
  void allow(radish_gpu_device* device, radish_gpu_device* peer);

  // Waits until what a device reaches is open, and from, where that is not null; and returns those. alone: nothing else may be open.
  DeviceSet enter(radish_gpu_device* device, radish_gpu_device* from, bool alone);
  void leave();
  // Whose closed memory an address lies in, null: nobody's. For a signal handler, while work runs.
  radish_gpu_device* owner(uint64_t address);

 private:
  std::mutex mutex_;
  std::condition_variable left_;
  DeviceSet devices_, open_;
  int running_ = 0;
};

// A call's hold on a stream: refuses two threads at once, and a lost device. from is another device whose memory the call itself reads, null: none. launch: the
// call runs a kernel.
class StreamUse {
 public:
  explicit StreamUse(radish_gpu_stream* stream, radish_gpu_device* from = nullptr, bool launch = false);
  ~StreamUse();
  Heap& heap() { return stream_->device->heap; }
  // Throws unless [address, address+bytes) lies within one allocation that the device reaches; what names the argument.
  void check_range(uint64_t address, int64_t bytes, const char* what);

 private:
  radish_gpu_stream* stream_;
  DeviceSet open_;
};

// Has faults of kernels in closed memory end in stop, and no others.
void catch_faults(void (*stop)(const char* message));
// Whether a kernel runs in this thread.
extern thread_local bool in_kernel;
