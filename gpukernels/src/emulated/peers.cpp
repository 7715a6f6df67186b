// peers.cpp: several emulated devices. What a device's kernels must not touch, memory of a device that it has not reached, is closed by the processor's
// own protection of pages while they run.
#include <signal.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>

#include "emulated.h"

namespace {

constexpr int64_t page = 4096;
constexpr int64_t given_back = 1 << 20; // a freed block of so many bytes gives its pages back to the system

bool any_peers() { // RADISH_EMULATED_PEERS=0: no device can reach another
  const char* text = std::getenv("RADISH_EMULATED_PEERS");
  return !text || std::strcmp(text, "0") != 0;
}

} // namespace

Region::Region(int64_t bytes) : bytes_((bytes + page - 1) / page * page) {
  void* at = mmap(nullptr, size_t(bytes_), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) throw std::bad_alloc();
  begin_ = reinterpret_cast<uint64_t>(at);
  holes_[begin_] = bytes_;
}

Region::~Region() { munmap(reinterpret_cast<void*>(begin_), size_t(bytes_)); }

void* Region::alloc(int64_t bytes) {
  bytes = (bytes + 255) / 256 * 256;
  for (auto it = holes_.begin(); it != holes_.end(); ++it) {
    auto [at, free] = *it;
    if (free < bytes) continue;
    holes_.erase(it);
    if (free > bytes) holes_[at + uint64_t(bytes)] = free - bytes;
    return reinterpret_cast<void*>(at);
  }
  return nullptr;
}

void Region::free(void* memory, int64_t bytes) {
  bytes = (bytes + 255) / 256 * 256;
  auto at = reinterpret_cast<uint64_t>(memory);
  if (bytes >= given_back) {
    uint64_t from = (at + page - 1) / page * page, to = (at + uint64_t(bytes)) / page * page;
    madvise(reinterpret_cast<void*>(from), size_t(to - from), MADV_DONTNEED);
  }
  auto next = holes_.lower_bound(at);
  if (next != holes_.end() && next->first == at + uint64_t(bytes)) {
    bytes += next->second;
    next = holes_.erase(next);
  }
  if (next != holes_.begin()) {
    auto before = std::prev(next);
    if (before->first + uint64_t(before->second) == at) {
      before->second += bytes;
      return;
    }
  }
  holes_[at] = bytes;
}

void Region::protect(bool closed) {
  if (mprotect(reinterpret_cast<void*>(begin_), size_t(bytes_), closed ? PROT_NONE : PROT_READ | PROT_WRITE) != 0)
    throw failure(RADISH_GPU_INTERNAL, "mprotect: %s", std::strerror(errno));
}

Peers& Peers::all() {
  static Peers peers;
  return peers;
}

void Peers::add(radish_gpu_device* device) {
  std::lock_guard<std::mutex> lock(mutex_);
  devices_.insert(device);
  open_.insert(device);
}

void Peers::remove(radish_gpu_device* device) {
  std::unique_lock<std::mutex> lock(mutex_);
  // A device's destructor frees what is allocated, so it must be open.
  left_.wait(lock, [&] { return running_ == 0; });
  if (!open_.count(device) && device->heap.region()) device->heap.region()->protect(false);
  devices_.erase(device);
  open_.erase(device);
  for (radish_gpu_device* d : devices_) d->reached.erase(device);
}

bool Peers::can(radish_gpu_device* device, radish_gpu_device* peer) { return device->ordinal == peer->ordinal || any_peers(); }

void Peers::allow(radish_gpu_device* device, radish_gpu_device* peer) {
  if (device->ordinal == peer->ordinal) return;
  if (!can(device, peer)) throw failure(RADISH_GPU_UNAVAILABLE, "emulated device %d cannot reach the memory of device %d", device->ordinal, peer->ordinal);
  std::lock_guard<std::mutex> lock(mutex_);
  device->reached.insert(peer);
}

DeviceSet Peers::enter(radish_gpu_device* device, radish_gpu_device* from, bool alone) {
  std::unique_lock<std::mutex> lock(mutex_);
  DeviceSet want;
  for (;;) {
    want.clear();
    for (radish_gpu_device* d : devices_)
      if (d->ordinal == device->ordinal || d == from || device->reached.count(d)) want.insert(d);
    if (running_ == 0) break;
    if (alone ? want == open_ : std::includes(open_.begin(), open_.end(), want.begin(), want.end())) break;
    left_.wait(lock);
  }
  for (radish_gpu_device* d : devices_) {
    bool was = open_.count(d) > 0, is = want.count(d) > 0 || (was && !alone);
    if (was == is) continue;
    if (d->heap.region()) d->heap.region()->protect(!is);
    if (is)
      open_.insert(d);
    else
      open_.erase(d);
  }
  running_++;
  return want;
}

void Peers::leave() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    running_--;
  }
  left_.notify_all();
}

radish_gpu_device* Peers::owner(uint64_t address) {
  for (radish_gpu_device* d : devices_)
    if (!open_.count(d) && d->heap.region() && d->heap.region()->has(address)) return d;
  return nullptr;
}

thread_local bool in_kernel = false;

namespace {

void (*stop_kernel)(const char* message);
struct sigaction others;

void on_fault(int number, siginfo_t* info, void* context) {
  radish_gpu_device* owner = in_kernel ? Peers::all().owner(reinterpret_cast<uint64_t>(info->si_addr)) : nullptr;
  if (owner) {
    static thread_local char message[128];
    std::snprintf(message, sizeof message, "an access to the memory of device %d, which it has not reached", owner->ordinal);
    pthread_sigmask(SIG_SETMASK, &static_cast<ucontext_t*>(context)->uc_sigmask, nullptr);
    stop_kernel(message);
  }
  if (others.sa_flags & SA_SIGINFO)
    others.sa_sigaction(number, info, context);
  else if (others.sa_handler != SIG_DFL && others.sa_handler != SIG_IGN)
    others.sa_handler(number);
  else
    signal(number, SIG_DFL); // the access is tried again, and ends the process
}

} // namespace

void catch_faults(void (*stop)(const char* message)) {
  static const bool caught = [&] {
    stop_kernel = stop;
    struct sigaction ours {};
    ours.sa_sigaction = on_fault;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK; // Go's threads have small stacks of their own
    sigfillset(&ours.sa_mask);
    return sigaction(SIGSEGV, &ours, &others) == 0;
  }();
  if (!caught) throw failure(RADISH_GPU_INTERNAL, "sigaction: %s", std::strerror(errno));
}

RADISH_API radish_gpu_kind radish_gpu_peer_can(radish_gpu_device* device, radish_gpu_device* peer, int32_t* can, radish_gpu_error* err) {
  return guarded(err, [&] {
    device->check();
    *can = Peers::all().can(device, peer) ? 1 : 0;
  });
}

RADISH_API radish_gpu_kind radish_gpu_peer_enable(radish_gpu_device* device, radish_gpu_device* peer, radish_gpu_error* err) {
  return guarded(err, [&] {
    device->check();
    for_peer([&] { peer->check(); });
    Peers::all().allow(device, peer);
  });
}
