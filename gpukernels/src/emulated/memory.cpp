// memory.cpp: allocation with red zones, and copies that are checked against the allocations' bounds.
#include <cstdlib>

#include "emulated.h"
#include "items.h"
#include "pieces.h"

namespace {

constexpr int64_t red_zone = 256;       // bytes before and behind a block
constexpr unsigned char red = 0xF5;     // what red zones hold
constexpr unsigned char garbage = 0xA5; // what new memory holds
constexpr unsigned char freed = 0xDD;
constexpr size_t checked_blocks = 4096; // with more blocks than this, red zones are looked at only when a block is freed

// What a block takes in all: its bytes are rounded up, since aligned_alloc wants whole units.
int64_t capacity_of(int64_t bytes) { return red_zone + (bytes + 255) / 256 * 256 + red_zone; }

} // namespace

Heap::Heap(int64_t limit, bool apart) : limit_(limit) {
  // Red zones and holes take more than what is allocated.
  if (apart) region_ = std::make_unique<Region>(4 * limit + (int64_t(64) << 20));
}

Heap::~Heap() {
  for (auto& [address, block] : blocks_) give(block.base, capacity_of(block.bytes));
}

unsigned char* Heap::take(int64_t bytes) {
  return static_cast<unsigned char*>(region_ ? region_->alloc(bytes) : std::aligned_alloc(256, bytes));
}

void Heap::give(unsigned char* base, int64_t bytes) {
  if (region_)
    region_->free(base, bytes);
  else
    std::free(base);
}

uint64_t Heap::alloc(int64_t bytes) {
  require(bytes >= 0, "a negative number of bytes");
  std::lock_guard<std::mutex> lock(mutex_);
  if (fail_in_ > 0 && --fail_in_ == 0)
    throw failure(RADISH_GPU_OUT_OF_MEMORY, "an allocation of %lld bytes failed because a test asked for it", (long long)bytes);
  if (bytes > limit_ - used_)
    throw failure(RADISH_GPU_OUT_OF_MEMORY, "device memory is exhausted: %lld bytes were asked for, %lld of %lld are in use", (long long)bytes,
                  (long long)used_, (long long)limit_);
  int64_t capacity = capacity_of(bytes);
  auto* base = take(capacity);
  if (!base) throw std::bad_alloc();
  std::memset(base, red, red_zone);
  std::memset(base + red_zone, garbage, bytes);
  std::memset(base + red_zone + bytes, red, capacity - red_zone - bytes);
  uint64_t address = reinterpret_cast<uint64_t>(base + red_zone);
  blocks_[address] = Block{bytes, base};
  used_ += bytes;
  return address;
}

void Heap::check_block(uint64_t address, const Block& block, const char* blame) {
  auto bad = [&](const char* where, int64_t offset) {
    return failure(RADISH_GPU_INTERNAL, "%s: memory %s the %lld bytes at %#llx was written to (offset %lld)", blame, where, (long long)block.bytes,
                   (unsigned long long)address, (long long)offset);
  };
  for (int64_t i = 0; i < red_zone; i++)
    if (block.base[i] != red) throw bad("before", i - red_zone);
  for (int64_t i = block.bytes; i < capacity_of(block.bytes) - red_zone; i++)
    if (block.base[red_zone + i] != red) throw bad("behind", i);
}

void Heap::free(uint64_t address) {
  if (address == 0) return;
  std::lock_guard<std::mutex> lock(mutex_);
  auto it = blocks_.find(address);
  if (it == blocks_.end()) throw failure(RADISH_GPU_USER, "free of %#llx, which is not allocated", (unsigned long long)address);
  Block block = it->second;
  blocks_.erase(it);
  used_ -= block.bytes;
  try {
    check_block(address, block, "found when freeing it");
  } catch (...) {
    give(block.base, capacity_of(block.bytes));
    throw;
  }
  std::memset(block.base, freed, red_zone + block.bytes);
  give(block.base, capacity_of(block.bytes));
}

void Heap::check_red_zones(const char* blame) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (blocks_.size() > checked_blocks) return;
  for (auto& [address, block] : blocks_) check_block(address, block, blame);
}

bool Heap::has_range(uint64_t address, int64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto it = blocks_.upper_bound(address);
  if (it != blocks_.begin()) {
    --it;
    return address - it->first <= uint64_t(it->second.bytes) && bytes <= it->second.bytes - int64_t(address - it->first);
  }
  return false;
}

int64_t Heap::used() {
  std::lock_guard<std::mutex> lock(mutex_);
  return used_;
}

void Heap::fail_allocation(int64_t n) {
  std::lock_guard<std::mutex> lock(mutex_);
  fail_in_ = n;
}

RADISH_API radish_gpu_kind radish_gpu_alloc(radish_gpu_stream* stream, int64_t bytes, uint64_t* address, radish_gpu_error* err) {
  return guarded(err, [&] {
    StreamUse use(stream);
    *address = use.heap().alloc(bytes);
  });
}

RADISH_API radish_gpu_kind radish_gpu_free(radish_gpu_stream* stream, uint64_t address, radish_gpu_error* err) {
  return guarded(err, [&] {
    StreamUse use(stream);
    use.heap().free(address);
  });
}

RADISH_API radish_gpu_kind radish_gpu_memory(radish_gpu_device* device, int64_t* used, int64_t* held, int64_t* free_bytes, radish_gpu_error* err) {
  return guarded(err, [&] {
    device->check();
    *used = *held = device->heap.used();
    *free_bytes = device->heap.limit() - *used;
  });
}

RADISH_API radish_gpu_kind radish_gpu_trim(radish_gpu_device* device, radish_gpu_error* err) {
  return guarded(err, [&] { device->check(); });
}

RADISH_API radish_gpu_kind radish_gpu_host_alloc(radish_gpu_device* device, int64_t bytes, void** memory, radish_gpu_error* err) {
  return guarded(err, [&] {
    require(bytes > 0, "no bytes of the host's memory");
    device->check();
    *memory = std::calloc(1, size_t(bytes));
    if (!*memory) throw failure(RADISH_GPU_OUT_OF_MEMORY, "the host has no %lld bytes", (long long)bytes);
  });
}

RADISH_API void radish_gpu_host_free(radish_gpu_device*, void* memory) { std::free(memory); }

RADISH_API radish_gpu_kind radish_gpu_fail_allocation(radish_gpu_device* device, int64_t n, radish_gpu_error* err) {
  return guarded(err, [&] {
    require(n >= 0, "n is negative");
    device->heap.fail_allocation(n);
  });
}

RADISH_API radish_gpu_kind radish_gpu_upload(radish_gpu_stream* stream, uint64_t dst, const void* src, int64_t bytes, radish_gpu_error* err) {
  return guarded(err, [&] {
    StreamUse use(stream);
    use.check_range(dst, bytes, "the destination of an upload");
    if (bytes > 0) std::memcpy(reinterpret_cast<void*>(dst), src, bytes);
  });
}

RADISH_API radish_gpu_kind radish_gpu_upload_pinned(radish_gpu_stream* stream, uint64_t dst, const void* src, int64_t bytes, radish_gpu_error* err) {
  return radish_gpu_upload(stream, dst, src, bytes, err);
}

RADISH_API radish_gpu_kind radish_gpu_upload_items(radish_gpu_stream* stream, uint64_t dst, int32_t width, const radish_gpu_items* items, int64_t arrays,
                                                   radish_gpu_error* err) {
  return guarded(err, [&] {
    StreamUse use(stream);
    ItemLayout layout(width, items, arrays);
    require(dst % uint64_t(width) == 0, "the destination of an upload is not aligned");
    use.check_range(dst, layout.bytes(), "the destination of an upload");
    layout.write(reinterpret_cast<void*>(dst), 0, layout.bytes());
  });
}

RADISH_API radish_gpu_kind radish_gpu_download(radish_gpu_stream* stream, void* dst, uint64_t src, int64_t bytes, radish_gpu_error* err) {
  return guarded(err, [&] {
    StreamUse use(stream);
    use.check_range(src, bytes, "the source of a download");
    if (bytes > 0) std::memcpy(dst, reinterpret_cast<void*>(src), bytes);
  });
}

RADISH_API radish_gpu_kind radish_gpu_download_pieces(radish_gpu_stream* stream, const radish_gpu_piece* pieces, int64_t count, uint64_t src,
                                                      radish_gpu_error* err) {
  return guarded(err, [&] {
    StreamUse use(stream);
    PieceLayout layout(pieces, count);
    use.check_range(src, layout.bytes(), "the source of a download");
    layout.store(reinterpret_cast<void*>(src), 0, layout.bytes());
  });
}

RADISH_API radish_gpu_kind radish_gpu_download_begin(radish_gpu_stream* stream, uint64_t src, int64_t bytes, const void** mailbox, radish_gpu_error* err) {
  return guarded(err, [&] {
    StreamUse use(stream);
    require(bytes > 0 && bytes <= RADISH_GPU_MAILBOX, "a download that does not wait has 1 to 65536 bytes");
    use.check_range(src, bytes, "the source of a download");
    stream->mailbox.resize(RADISH_GPU_MAILBOX);
    std::memcpy(stream->mailbox.data(), reinterpret_cast<void*>(src), bytes);
    *mailbox = stream->mailbox.data();
  });
}

RADISH_API radish_gpu_kind radish_gpu_peer_copy(radish_gpu_stream* stream, uint64_t dst, radish_gpu_device* from, uint64_t src, int64_t bytes,
                                                radish_gpu_error* err) {
  return guarded(err, [&] {
    for_peer([&] { from->check(); });
    StreamUse use(stream, from);
    require(bytes >= 0, "a negative number of bytes");
    if (bytes == 0) return;
    if (!use.heap().has_range(dst, bytes)) throw failure(RADISH_GPU_USER, "the destination of a copy from a peer does not lie within an allocation of the stream's device");
    if (!from->heap.has_range(src, bytes)) throw failure(RADISH_GPU_USER, "the source of a copy from a peer does not lie within an allocation of the peer");
    std::memcpy(reinterpret_cast<void*>(dst), reinterpret_cast<void*>(src), bytes);
  });
}

RADISH_API radish_gpu_kind radish_gpu_copy(radish_gpu_stream* stream, uint64_t dst, uint64_t src, int64_t bytes, radish_gpu_error* err) {
  return guarded(err, [&] {
    StreamUse use(stream);
    use.check_range(dst, bytes, "the destination of a copy");
    use.check_range(src, bytes, "the source of a copy");
    require(bytes <= 0 || dst + uint64_t(bytes) <= src || src + uint64_t(bytes) <= dst, "a copy onto itself: the ranges overlap");
    if (bytes > 0) std::memcpy(reinterpret_cast<void*>(dst), reinterpret_cast<void*>(src), bytes);
  });
}
