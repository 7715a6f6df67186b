// device.cpp: an opened device: its state, streams, events, and the stream-ordered pool.
#include "device.h"

#include "items.h"
#include "pieces.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace {

// Whether an error leaves the context unusable, as the CUDA documentation says of each ("the process must be terminated and
// relaunched"). The driver's numbers and the runtime's are the same here.
bool is_sticky(int code) {
  switch (code) {
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorContextIsDestroyed:
    case cudaErrorExternalDevice:
    case 721: // contained error, since CUDA 12.8
      return true;
  }
  return false;
}

} // namespace

void radish_gpu_device::fail(int32_t code, bool sticky, const char* name, const char* text, const char* what) {
  if (!sticky) {
    auto kind = code == cudaErrorMemoryAllocation ? RADISH_GPU_OUT_OF_MEMORY : RADISH_GPU_INTERNAL;
    Failure f = failure(kind, "%s: %s (%s)", what, text, name);
    f.code = code;
    throw f;
  }
  std::lock_guard<std::mutex> lock(mutex);
  if (lost.empty()) {
    std::set<std::string> suspects;
    for (radish_gpu_stream* s : streams)
      for (int64_t i = std::max<int64_t>(0, s->launched - radish_gpu_stream::max_names); i < s->launched; i++)
        suspects.insert(s->names[i % radish_gpu_stream::max_names]);
    lost = std::string(text) + " (" + name + ", found when " + what + ")";
    if (!suspects.empty()) {
      lost += " in one of these kernels:";
      for (auto& s : suspects) lost += " " + s;
    }
  }
  throw Failure{RADISH_GPU_DEVICE_LOST, code, lost};
}

void radish_gpu_device::check(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  cudaGetLastError();
  fail(code, is_sticky(code), cudaGetErrorName(code), cudaGetErrorString(code), what);
}

void radish_gpu_device::check(CUresult code, const char* what) {
  if (code == CUDA_SUCCESS) return;
  const char *name = "?", *text = "?";
  driver().GetErrorName(code, &name);
  driver().GetErrorString(code, &text);
  fail(code, is_sticky(code), name, text, what);
}

void radish_gpu_device::use() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (!lost.empty()) throw Failure{RADISH_GPU_DEVICE_LOST, 0, lost};
  }
  check(cudaSetDevice(ordinal), "choosing the device");
}

uint64_t radish_gpu_device::alloc(int64_t bytes, cudaStream_t stream) {
  require(bytes >= 0, "a negative number of bytes");
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (fail_in > 0 && --fail_in == 0)
      throw failure(RADISH_GPU_OUT_OF_MEMORY, "an allocation of %lld bytes failed because a test asked for it", (long long)bytes);
  }
  void* p = nullptr;
  // Each allocation has an address of its own, and whole words of eight bytes: strings are read in such (device/string.cuh).
  size_t size = bytes > 0 ? (size_t(bytes) + 7) / 8 * 8 : 8;
  cudaError_t code = cudaMallocFromPoolAsync(&p, size, pool, stream);
  if (code == cudaErrorMemoryAllocation) {
    // The pool may hold what it needs in pieces, or wait for frees of other streams.
    cudaGetLastError();
    check(cudaDeviceSynchronize(), "waiting for memory");
    check(cudaMemPoolTrimTo(pool, 0), "trimming the pool");
    code = cudaMallocFromPoolAsync(&p, size, pool, stream);
  }
  if (code == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    size_t free_bytes = 0, total = 0;
    cudaMemGetInfo(&free_bytes, &total);
    std::lock_guard<std::mutex> lock(mutex);
    Failure f = failure(RADISH_GPU_OUT_OF_MEMORY, "%lld bytes were asked for; Radish uses %lld, %lld of %lld are free", (long long)bytes, (long long)used,
                        (long long)free_bytes, (long long)total);
    f.code = code;
    throw f;
  }
  check(code, "allocating memory");
  std::lock_guard<std::mutex> lock(mutex);
  sizes[reinterpret_cast<uint64_t>(p)] = bytes;
  used += bytes;
  return reinterpret_cast<uint64_t>(p);
}

void radish_gpu_device::free(uint64_t address, cudaStream_t stream) {
  if (address == 0) return;
  {
    std::lock_guard<std::mutex> lock(mutex);
    auto it = sizes.find(address);
    if (it == sizes.end()) throw failure(RADISH_GPU_USER, "free of %#llx, which is not allocated", (unsigned long long)address);
    used -= it->second;
    sizes.erase(it);
  }
  check(cudaFreeAsync(reinterpret_cast<void*>(address), stream), "freeing memory");
}

RADISH_API radish_gpu_kind radish_gpu_device_open(int32_t ordinal, radish_gpu_device** device, radish_gpu_error* err) {
  return guarded(err, [&] {
    driver();
    check_runtime(cudaSetDevice(ordinal), "opening the GPU");
    auto d = std::make_unique<radish_gpu_device>();
    d->ordinal = ordinal;
    int value = 0;
    check_runtime(cudaDeviceGetAttribute(&value, cudaDevAttrMemoryPoolsSupported, ordinal), "asking a GPU for its properties");
    if (!value) throw failure(RADISH_GPU_UNAVAILABLE, "GPU %d has no stream-ordered memory pools (virtual GPU?)", ordinal);
    check_runtime(cudaDeviceGetAttribute(&value, cudaDevAttrComputeCapabilityMajor, ordinal), "asking a GPU for its properties");
    if (value < 8) throw failure(RADISH_GPU_UNAVAILABLE, "GPU %d has compute capability %d.x, and Radish needs 8.0 (Ampere) or newer", ordinal, value);
    check_runtime(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, ordinal), "asking a GPU for its properties");
    d->max_shared = value;
    cudaMemPoolProps props{};
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    props.location.id = ordinal;
    check_runtime(cudaMemPoolCreate(&d->pool, &props), "making the memory pool");
    uint64_t keep = UINT64_MAX; // until radish_gpu_trim
    check_runtime(cudaMemPoolSetAttribute(d->pool, cudaMemPoolAttrReleaseThreshold, &keep), "making the memory pool");
    d->staging = Staging::make(d.get());
    *device = d.release();
  });
}

RADISH_API void radish_gpu_device_close(radish_gpu_device* device) {
  if (!device) return;
  cudaSetDevice(device->ordinal);
  cudaDeviceSynchronize();
  device->staging.reset();
  if (device->pool) cudaMemPoolDestroy(device->pool);
  cudaGetLastError();
  delete device;
}

RADISH_API radish_gpu_kind radish_gpu_stream_create(radish_gpu_device* device, radish_gpu_stream** stream, radish_gpu_error* err) {
  return guarded(err, [&] {
    device->use();
    auto s = std::make_unique<radish_gpu_stream>();
    s->device = device;
    device->check(cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking), "making a stream");
    std::lock_guard<std::mutex> lock(device->mutex);
    device->streams.insert(s.get());
    *stream = s.release();
  });
}

RADISH_API void radish_gpu_stream_destroy(radish_gpu_stream* stream) {
  if (!stream) return;
  {
    std::lock_guard<std::mutex> lock(stream->device->mutex);
    stream->device->streams.erase(stream);
  }
  cudaSetDevice(stream->device->ordinal);
  if (stream->mailbox) {
    cudaStreamSynchronize(stream->stream); // its last download may not have been waited for
    stream->device->staging->give_mailbox(stream->mailbox);
  }
  cudaStreamDestroy(stream->stream);
  cudaGetLastError();
  delete stream;
}

namespace {

// The stream was found empty: its kernels are no suspects any more.
void emptied(radish_gpu_stream* stream) {
  std::lock_guard<std::mutex> lock(stream->device->mutex);
  stream->launched = 0;
}

} // namespace

RADISH_API radish_gpu_kind radish_gpu_stream_sync(radish_gpu_stream* stream, radish_gpu_error* err) {
  return guarded(err, [&] {
    stream->device->use();
    stream->device->check(cudaStreamSynchronize(stream->stream), "waiting for a stream");
    emptied(stream);
  });
}

RADISH_API radish_gpu_kind radish_gpu_stream_query(radish_gpu_stream* stream, int32_t* done, radish_gpu_error* err) {
  return guarded(err, [&] {
    stream->device->use();
    cudaError_t code = cudaStreamQuery(stream->stream);
    *done = code == cudaSuccess;
    if (code == cudaErrorNotReady) {
      cudaGetLastError();
      return;
    }
    stream->device->check(code, "waiting for a stream");
    emptied(stream);
  });
}

struct radish_gpu_event {
  radish_gpu_device* device;
  cudaEvent_t event;
};

RADISH_API radish_gpu_kind radish_gpu_event_create(radish_gpu_device* device, radish_gpu_event** event, radish_gpu_error* err) {
  return guarded(err, [&] {
    device->use();
    auto e = std::make_unique<radish_gpu_event>();
    e->device = device;
    device->check(cudaEventCreate(&e->event), "making an event");
    *event = e.release();
  });
}

RADISH_API void radish_gpu_event_destroy(radish_gpu_event* event) {
  if (!event) return;
  cudaSetDevice(event->device->ordinal);
  cudaEventDestroy(event->event);
  cudaGetLastError();
  delete event;
}

RADISH_API radish_gpu_kind radish_gpu_event_record(radish_gpu_event* event, radish_gpu_stream* stream, radish_gpu_error* err) {
  return guarded(err, [&] {
    require(event->device->ordinal == stream->device->ordinal, "an event is recorded on a stream of another device");
    stream->device->use();
    stream->device->check(cudaEventRecord(event->event, stream->stream), "recording an event");
  });
}

RADISH_API radish_gpu_kind radish_gpu_stream_wait(radish_gpu_stream* stream, radish_gpu_event* event, radish_gpu_error* err) {
  return guarded(err, [&] {
    stream->device->use();
    stream->device->check(cudaStreamWaitEvent(stream->stream, event->event, 0), "having a stream wait for an event");
  });
}

namespace {

bool can_reach(radish_gpu_device* device, radish_gpu_device* peer) {
  if (device->ordinal == peer->ordinal) return true;
  int can = 0;
  device->check(cudaDeviceCanAccessPeer(&can, device->ordinal, peer->ordinal), "asking for access to a peer");
  return can != 0;
}

} // namespace

RADISH_API radish_gpu_kind radish_gpu_peer_can(radish_gpu_device* device, radish_gpu_device* peer, int32_t* can, radish_gpu_error* err) {
  return guarded(err, [&] {
    device->use();
    *can = can_reach(device, peer) ? 1 : 0;
  });
}

RADISH_API radish_gpu_kind radish_gpu_peer_enable(radish_gpu_device* device, radish_gpu_device* peer, radish_gpu_error* err) {
  return guarded(err, [&] {
    for_peer([&] { peer->use(); });
    device->use();
    if (device->ordinal == peer->ordinal) return;
    if (!can_reach(device, peer)) throw failure(RADISH_GPU_UNAVAILABLE, "GPU %d cannot reach the memory of GPU %d", device->ordinal, peer->ordinal);
    // For memory outside of pools. A pool has its own list of those who may.
    cudaError_t code = cudaDeviceEnablePeerAccess(peer->ordinal, 0);
    if (code == cudaErrorPeerAccessAlreadyEnabled) {
      cudaGetLastError();
      code = cudaSuccess;
    }
    device->check(code, "allowing access to a peer");
    cudaMemAccessDesc access{};
    access.location.type = cudaMemLocationTypeDevice;
    access.location.id = device->ordinal;
    access.flags = cudaMemAccessFlagsProtReadWrite;
    device->check(cudaMemPoolSetAccess(peer->pool, &access, 1), "allowing access to a peer's memory pool");
  });
}

RADISH_API radish_gpu_kind radish_gpu_peer_copy(radish_gpu_stream* stream, uint64_t dst, radish_gpu_device* from, uint64_t src, int64_t bytes,
                                                radish_gpu_error* err) {
  return guarded(err, [&] {
    require(bytes >= 0, "a negative number of bytes");
    radish_gpu_device* device = stream->device;
    for_peer([&] { from->use(); });
    device->use();
    if (bytes == 0) return;
    auto *to = reinterpret_cast<void*>(dst), *at = reinterpret_cast<void*>(src);
    device->check(device->ordinal == from->ordinal ? cudaMemcpyAsync(to, at, size_t(bytes), cudaMemcpyDeviceToDevice, stream->stream)
                                                   : cudaMemcpyPeerAsync(to, device->ordinal, at, from->ordinal, size_t(bytes), stream->stream),
                  "copying from a peer");
  });
}

RADISH_API radish_gpu_kind radish_gpu_event_elapsed(radish_gpu_event* from, radish_gpu_event* to, double* ms, radish_gpu_error* err) {
  return guarded(err, [&] {
    radish_gpu_device* d = to->device;
    d->use();
    d->check(cudaEventSynchronize(from->event), "waiting for an event");
    d->check(cudaEventSynchronize(to->event), "waiting for an event");
    float elapsed = 0;
    d->check(cudaEventElapsedTime(&elapsed, from->event, to->event), "reading the time between events");
    *ms = elapsed;
  });
}

RADISH_API radish_gpu_kind radish_gpu_alloc(radish_gpu_stream* stream, int64_t bytes, uint64_t* address, radish_gpu_error* err) {
  return guarded(err, [&] {
    stream->device->use();
    *address = stream->device->alloc(bytes, stream->stream);
  });
}

RADISH_API radish_gpu_kind radish_gpu_free(radish_gpu_stream* stream, uint64_t address, radish_gpu_error* err) {
  return guarded(err, [&] {
    stream->device->use();
    stream->device->free(address, stream->stream);
  });
}

RADISH_API radish_gpu_kind radish_gpu_memory(radish_gpu_device* device, int64_t* used, int64_t* held, int64_t* free_bytes, radish_gpu_error* err) {
  return guarded(err, [&] {
    device->use();
    uint64_t reserved = 0;
    device->check(cudaMemPoolGetAttribute(device->pool, cudaMemPoolAttrReservedMemCurrent, &reserved), "asking the pool");
    size_t left = 0, total = 0;
    device->check(cudaMemGetInfo(&left, &total), "asking for free memory");
    std::lock_guard<std::mutex> lock(device->mutex);
    *used = device->used;
    *held = int64_t(reserved);
    *free_bytes = int64_t(left);
  });
}

RADISH_API radish_gpu_kind radish_gpu_trim(radish_gpu_device* device, radish_gpu_error* err) {
  return guarded(err, [&] {
    device->use();
    device->check(cudaDeviceSynchronize(), "waiting for frees"); // only what is freed by now can be given back
    device->check(cudaMemPoolTrimTo(device->pool, 0), "trimming the pool");
  });
}

RADISH_API radish_gpu_kind radish_gpu_host_alloc(radish_gpu_device* device, int64_t bytes, void** memory, radish_gpu_error* err) {
  return guarded(err, [&] {
    require(bytes > 0, "no bytes of the host's memory");
    device->use();
    device->check(cudaHostAlloc(memory, size_t(bytes), cudaHostAllocMapped | cudaHostAllocPortable), "pinning memory");
    std::memset(*memory, 0, size_t(bytes));
  });
}

RADISH_API void radish_gpu_host_free(radish_gpu_device* device, void* memory) {
  cudaSetDevice(device->ordinal);
  cudaFreeHost(memory);
  cudaGetLastError();
}

RADISH_API radish_gpu_kind radish_gpu_fail_allocation(radish_gpu_device* device, int64_t n, radish_gpu_error* err) {
  return guarded(err, [&] {
    require(n >= 0, "n is negative");
    std::lock_guard<std::mutex> lock(device->mutex);
    device->fail_in = n;
  });
}

RADISH_API radish_gpu_kind radish_gpu_upload(radish_gpu_stream* stream, uint64_t dst, const void* src, int64_t bytes, radish_gpu_error* err) {
  return guarded(err, [&] {
    require(bytes >= 0, "a negative number of bytes");
    stream->device->use();
    if (bytes > 0) stream->device->staging->upload(stream->stream, dst, src, bytes);
  });
}

RADISH_API radish_gpu_kind radish_gpu_upload_pinned(radish_gpu_stream* stream, uint64_t dst, const void* src, int64_t bytes, radish_gpu_error* err) {
  return guarded(err, [&] {
    require(bytes >= 0, "a negative number of bytes");
    stream->device->use();
    if (bytes > 0)
      stream->device->check(cudaMemcpyAsync(reinterpret_cast<void*>(dst), src, size_t(bytes), cudaMemcpyHostToDevice, stream->stream), "uploading");
  });
}

RADISH_API radish_gpu_kind radish_gpu_upload_items(radish_gpu_stream* stream, uint64_t dst, int32_t width, const radish_gpu_items* items, int64_t arrays,
                                                   radish_gpu_error* err) {
  return guarded(err, [&] {
    ItemLayout layout(width, items, arrays);
    require(dst % uint64_t(width) == 0, "the destination of an upload is not aligned");
    stream->device->use();
    if (layout.bytes() > 0) stream->device->staging->upload(stream->stream, dst, layout);
  });
}

RADISH_API radish_gpu_kind radish_gpu_download(radish_gpu_stream* stream, void* dst, uint64_t src, int64_t bytes, radish_gpu_error* err) {
  return guarded(err, [&] {
    require(bytes >= 0, "a negative number of bytes");
    stream->device->use();
    if (bytes > 0) stream->device->staging->download(stream->stream, dst, src, bytes);
    stream->device->check(cudaStreamSynchronize(stream->stream), "waiting for a download");
    emptied(stream);
  });
}

RADISH_API radish_gpu_kind radish_gpu_download_pieces(radish_gpu_stream* stream, const radish_gpu_piece* pieces, int64_t count, uint64_t src,
                                                      radish_gpu_error* err) {
  return guarded(err, [&] {
    PieceLayout layout(pieces, count);
    stream->device->use();
    if (layout.bytes() > 0) stream->device->staging->download(stream->stream, layout, src);
    stream->device->check(cudaStreamSynchronize(stream->stream), "waiting for a download");
    emptied(stream);
  });
}

RADISH_API radish_gpu_kind radish_gpu_download_begin(radish_gpu_stream* stream, uint64_t src, int64_t bytes, const void** mailbox, radish_gpu_error* err) {
  return guarded(err, [&] {
    require(bytes > 0 && bytes <= RADISH_GPU_MAILBOX, "a download that does not wait has 1 to 65536 bytes");
    radish_gpu_device* device = stream->device;
    device->use();
    if (!stream->mailbox) stream->mailbox = device->staging->mailbox();
    device->check(cudaMemcpyAsync(stream->mailbox, reinterpret_cast<void*>(src), size_t(bytes), cudaMemcpyDeviceToHost, stream->stream), "downloading");
    *mailbox = stream->mailbox;
  });
}

RADISH_API radish_gpu_kind radish_gpu_copy(radish_gpu_stream* stream, uint64_t dst, uint64_t src, int64_t bytes, radish_gpu_error* err) {
  return guarded(err, [&] {
    require(bytes >= 0, "a negative number of bytes");
    require(bytes == 0 || dst + uint64_t(bytes) <= src || src + uint64_t(bytes) <= dst, "a copy onto itself: the ranges overlap");
    stream->device->use();
    if (bytes > 0)
      stream->device->check(cudaMemcpyAsync(reinterpret_cast<void*>(dst), reinterpret_cast<void*>(src), size_t(bytes), cudaMemcpyDeviceToDevice, stream->stream),
                            "copying within the device");
  });
}
