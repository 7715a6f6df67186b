// device.cpp: the emulated devices, their streams and events.
#include <algorithm>
#include <cstdlib>
#include <thread>

#include "emulated.h"

namespace {

// As many as RADISH_EMULATED_DEVICES says, at most 64; one where it says nothing.
int32_t device_count() {
  const char* text = std::getenv("RADISH_EMULATED_DEVICES");
  return text ? std::clamp(std::atoi(text), 1, 64) : 1;
}

void check_ordinal(int32_t ordinal) {
  if (ordinal < 0 || ordinal >= device_count()) throw failure(RADISH_GPU_USER, "there is no emulated device number %d: there are %d", ordinal, device_count());
}

int64_t memory_limit() {
  const char* text = std::getenv("RADISH_EMULATED_MEMORY"); // bytes
  int64_t bytes = text ? std::atoll(text) : 0;
  return bytes > 0 ? bytes : int64_t(4) << 30;
}

void describe(radish_gpu_device_info* info, int32_t ordinal, int64_t memory, int64_t used) {
  std::memset(info, 0, sizeof *info);
  std::snprintf(info->name, sizeof info->name, "emulated on the processor");
  std::snprintf(info->library, sizeof info->library, "emulated");
  info->ordinal = ordinal;
  info->multiprocessors = 4; // a grid of several blocks, so that tests see their boundaries
  info->warp_size = 1;
  info->max_threads = 1;
  info->shared_bytes = 227 << 10; // as an H100
  info->l2_bytes = 1 << 20;
  info->memory_bytes = memory;
  info->memory_free = memory - used;
}

} // namespace

radish_gpu_device::radish_gpu_device(int32_t number) : ordinal(number), heap(memory_limit(), device_count() > 1) { Peers::all().add(this); }

radish_gpu_device::~radish_gpu_device() { Peers::all().remove(this); }

void radish_gpu_device::check() {
  std::lock_guard<std::mutex> lock(mutex);
  if (!lost.empty()) throw Failure{RADISH_GPU_DEVICE_LOST, 0, lost};
}

void radish_gpu_device::lose(const std::string& why) {
  std::lock_guard<std::mutex> lock(mutex);
  if (lost.empty()) lost = why;
}

StreamUse::StreamUse(radish_gpu_stream* stream, radish_gpu_device* from, bool launch) : stream_(stream) {
  require(stream != nullptr, "stream is null");
  stream->device->check();
  if (stream->busy.exchange(true)) throw failure(RADISH_GPU_USER, "two threads use one stream at once");
  open_ = Peers::all().enter(stream->device, from, launch);
}

StreamUse::~StreamUse() {
  Peers::all().leave();
  stream_->busy = false;
}

void StreamUse::check_range(uint64_t address, int64_t bytes, const char* what) {
  require(bytes >= 0, "a negative number of bytes");
  if (bytes == 0) return;
  for (radish_gpu_device* d : open_)
    if (d->heap.has_range(address, bytes)) return;
  throw failure(RADISH_GPU_USER, "%s: %lld bytes at %#llx do not lie within an allocation", what, (long long)bytes, (unsigned long long)address);
}

RADISH_API int32_t radish_gpu_abi_version(void) { return RADISH_GPU_ABI_VERSION; }

RADISH_API int64_t radish_gpu_sizeof(const char* type_name) {
  if (!std::strcmp(type_name, "radish_gpu_error")) return sizeof(radish_gpu_error);
  if (!std::strcmp(type_name, "radish_gpu_device_info")) return sizeof(radish_gpu_device_info);
  if (!std::strcmp(type_name, "radish_gpu_items")) return sizeof(radish_gpu_items);
  if (!std::strcmp(type_name, "radish_gpu_piece")) return sizeof(radish_gpu_piece);
  if (!std::strcmp(type_name, "radish_gpu_range")) return sizeof(radish_gpu_range);
  if (!std::strcmp(type_name, "radish_gpu_frame")) return sizeof(radish_gpu_frame);
  return -1;
}

RADISH_API radish_gpu_kind radish_gpu_device_count(int32_t* count, radish_gpu_error*) {
  *count = device_count();
  return RADISH_GPU_OK;
}

RADISH_API radish_gpu_kind radish_gpu_device_query(int32_t ordinal, radish_gpu_device_info* info, radish_gpu_error* err) {
  return guarded(err, [&] {
    check_ordinal(ordinal);
    describe(info, ordinal, memory_limit(), 0);
  });
}

RADISH_API radish_gpu_kind radish_gpu_device_open(int32_t ordinal, radish_gpu_device** device, radish_gpu_error* err) {
  return guarded(err, [&] {
    check_ordinal(ordinal);
    *device = new radish_gpu_device(ordinal);
  });
}

RADISH_API void radish_gpu_device_close(radish_gpu_device* device) { delete device; }

RADISH_API radish_gpu_kind radish_gpu_stream_create(radish_gpu_device* device, radish_gpu_stream** stream, radish_gpu_error* err) {
  return guarded(err, [&] {
    device->check();
    *stream = new radish_gpu_stream;
    (*stream)->device = device;
  });
}

RADISH_API void radish_gpu_stream_destroy(radish_gpu_stream* stream) { delete stream; }

RADISH_API radish_gpu_kind radish_gpu_stream_sync(radish_gpu_stream* stream, radish_gpu_error* err) {
  return guarded(err, [&] { StreamUse use(stream); });
}

RADISH_API radish_gpu_kind radish_gpu_stream_query(radish_gpu_stream* stream, int32_t* done, radish_gpu_error* err) {
  return guarded(err, [&] {
    StreamUse use(stream);
    *done = 1;
  });
}

struct radish_gpu_event {
  radish_gpu_device* device;
  std::atomic<bool> recorded{false};
  std::chrono::steady_clock::time_point at;
};

RADISH_API radish_gpu_kind radish_gpu_event_create(radish_gpu_device* device, radish_gpu_event** event, radish_gpu_error* err) {
  return guarded(err, [&] {
    device->check();
    *event = new radish_gpu_event;
    (*event)->device = device;
  });
}

RADISH_API void radish_gpu_event_destroy(radish_gpu_event* event) { delete event; }

RADISH_API radish_gpu_kind radish_gpu_event_record(radish_gpu_event* event, radish_gpu_stream* stream, radish_gpu_error* err) {
  return guarded(err, [&] {
    StreamUse use(stream);
    require(event->device->ordinal == stream->device->ordinal, "an event is recorded on a stream of another device");
    event->at = std::chrono::steady_clock::now();
    event->recorded = true;
  });
}

RADISH_API radish_gpu_kind radish_gpu_stream_wait(radish_gpu_stream* stream, radish_gpu_event* event, radish_gpu_error* err) {
  return guarded(err, [&] {
    StreamUse use(stream);
    for_peer([&] { event->device->check(); });
    require(event->recorded, "a stream waits for an event that was not recorded"); // a GPU would not wait at all
  });
}

RADISH_API radish_gpu_kind radish_gpu_event_elapsed(radish_gpu_event* from, radish_gpu_event* to, double* ms, radish_gpu_error* err) {
  return guarded(err, [&] {
    require(from->recorded && to->recorded, "an event was not recorded");
    *ms = std::chrono::duration<double, std::milli>(to->at - from->at).count();
  });
}
