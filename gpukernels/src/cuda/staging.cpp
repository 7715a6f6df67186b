// staging.cpp: copies between the host's pageable memory and the device. A DMA engine reads pinned memory only, and one thread
// copies into it several times slower than the bus takes it out. So a transfer is cut into chunks. The caller and a few workers copy
// them into (or out of) pinned buffers, each handing its chunk to the stream itself. Buffers are reused as soon as their copy has ended.
#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <thread>
#include <vector>

#include "device.h"
#include "items.h"
#include "pieces.h"

namespace {

constexpr int64_t chunk_bytes = 4 << 20; // long enough that an event and a launch cost nothing beside it
constexpr int64_t direct_bytes = RADISH_GPU_MAILBOX; // up to this the driver copies pageable memory into its command buffer, and returns
constexpr int max_buffers = 32;          // 128 MiB pinned at most
constexpr int max_workers = 15;          // some 8 GB/s each against a bus of 55 GB/s; half of that where a download meets pages that nobody has touched

struct Buffer {
  void* memory = nullptr;
  cudaEvent_t copied = nullptr; // the buffer's last copy on a stream
};

// A transfer that is being worked on.
struct Job {
  cudaStream_t stream;
  const ItemLayout* up; // what is uploaded; null: a download
  uint64_t device;
  const PieceLayout* down; // where a download goes
  int64_t bytes;
  int64_t chunks;
  std::atomic<int64_t> next{0};
  // Guarded by the pool's mutex:
  int64_t finished = 0;
  std::exception_ptr error;
};

class Pool final : public Staging {
 public:
  explicit Pool(radish_gpu_device* device) : device_(device) {}

  ~Pool() override {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      closing_ = true;
    }
    work_.notify_all();
    for (auto& w : workers_) w.join();
    for (auto& b : free_) {
      cudaFreeHost(b.memory);
      cudaEventDestroy(b.copied);
    }
    for (void* p : little_) cudaFreeHost(p);
  }

  void upload(cudaStream_t stream, uint64_t dst, const void* src, int64_t bytes) override {
    if (bytes <= direct_bytes) return upload_little(stream, dst, src, bytes);
    radish_gpu_items all{src, bytes, 0, 1, 0};
    upload(stream, dst, ItemLayout(1, &all, 1));
  }
  void upload(cudaStream_t stream, uint64_t dst, const ItemLayout& src) override {
    if (src.bytes() > direct_bytes) return run(stream, &src, dst, nullptr, src.bytes());
    std::vector<char> little(size_t(src.bytes()));
    src.write(little.data(), 0, src.bytes());
    upload_little(stream, dst, little.data(), src.bytes());
  }
  void download(cudaStream_t stream, void* dst, uint64_t src, int64_t bytes) override {
    if (bytes <= direct_bytes)
      download_little(stream, dst, src, bytes);
    else
      run_download(stream, dst, src, bytes);
  }
  void download(cudaStream_t stream, const PieceLayout& dst, uint64_t src) override { run(stream, nullptr, src, &dst, dst.bytes()); }
  void* mailbox() override {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (!little_.empty()) {
        void* pinned = little_.back();
        little_.pop_back();
        return pinned;
      }
    }
    void* pinned = nullptr;
    device_->check(cudaHostAlloc(&pinned, direct_bytes, cudaHostAllocPortable), "pinning memory");
    return pinned;
  }
  void give_mailbox(void* pinned) override {
    std::lock_guard<std::mutex> lock(mutex_);
    little_.push_back(pinned);
  }

 private:
  void upload_little(cudaStream_t stream, uint64_t dst, const void* src, int64_t bytes) {
    device_->check(cudaMemcpyAsync(reinterpret_cast<void*>(dst), src, size_t(bytes), cudaMemcpyHostToDevice, stream), "uploading");
  }

  // A copy of a few kilobytes: it is the calls that take time, so there are two.
  void download_little(cudaStream_t stream, void* dst, uint64_t src, int64_t bytes) {
    void* pinned = mailbox();
    cudaError_t code = cudaMemcpyAsync(pinned, reinterpret_cast<void*>(src), size_t(bytes), cudaMemcpyDeviceToHost, stream);
    if (code == cudaSuccess) code = cudaStreamSynchronize(stream);
    if (code == cudaSuccess) std::memcpy(dst, pinned, size_t(bytes));
    give_mailbox(pinned);
    device_->check(code, "downloading");
  }

  void run_download(cudaStream_t stream, void* dst, uint64_t src, int64_t bytes) {
    radish_gpu_piece all{dst, bytes};
    download(stream, PieceLayout(&all, 1), src);
  }

  void run(cudaStream_t stream, const ItemLayout* up, uint64_t device, const PieceLayout* down, int64_t bytes) {
    auto job = std::make_shared<Job>();
    job->stream = stream;
    job->up = up;
    job->device = device;
    job->down = down;
    job->bytes = bytes;
    job->chunks = (bytes + chunk_bytes - 1) / chunk_bytes;
    if (job->chunks > 1) {
      std::lock_guard<std::mutex> lock(mutex_);
      start_workers();
      jobs_.push_back(job);
      work_.notify_all();
    }
    work_on(*job);
    std::unique_lock<std::mutex> lock(mutex_);
    done_.wait(lock, [&] { return job->finished == job->chunks; });
    jobs_.erase(std::remove(jobs_.begin(), jobs_.end(), job), jobs_.end());
    if (job->error) std::rethrow_exception(job->error);
  }

  void start_workers() {
    if (!workers_.empty()) return;
    int n = std::clamp(int(std::thread::hardware_concurrency()) - 1, 1, max_workers);
    for (int i = 0; i < n; i++) workers_.emplace_back([this] { work(); });
  }

  void work() {
    cudaSetDevice(device_->ordinal);
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      std::shared_ptr<Job> job;
      for (auto& j : jobs_)
        if (j->next.load() < j->chunks) {
          job = j;
          break;
        }
      if (!job) {
        if (closing_) return;
        work_.wait(lock);
        continue;
      }
      lock.unlock();
      work_on(*job);
      lock.lock();
    }
  }

  // Moves chunks until all of the job's are taken.
  void work_on(Job& job) {
    for (int64_t c; (c = job.next.fetch_add(1)) < job.chunks;) {
      std::exception_ptr error;
      try {
        move(job, c);
      } catch (...) {
        error = std::current_exception();
      }
      std::lock_guard<std::mutex> lock(mutex_);
      if (error && !job.error) job.error = error;
      if (++job.finished == job.chunks) done_.notify_all();
    }
  }

  void move(Job& job, int64_t c) {
    int64_t at = c * chunk_bytes;
    size_t n = size_t(std::min(chunk_bytes, job.bytes - at));
    Buffer b = take();
    try {
      if (job.up) {
        job.up->write(b.memory, at, int64_t(n));
        device_->check(cudaMemcpyAsync(reinterpret_cast<void*>(job.device + uint64_t(at)), b.memory, n, cudaMemcpyHostToDevice, job.stream), "uploading");
        device_->check(cudaEventRecord(b.copied, job.stream), "uploading");
      } else {
        device_->check(cudaMemcpyAsync(b.memory, reinterpret_cast<void*>(job.device + uint64_t(at)), n, cudaMemcpyDeviceToHost, job.stream), "downloading");
        device_->check(cudaEventRecord(b.copied, job.stream), "downloading");
        device_->check(cudaEventSynchronize(b.copied), "downloading");
        job.down->store(b.memory, at, int64_t(n));
      }
    } catch (...) {
      give(b);
      throw;
    }
    give(b);
  }

  // A buffer that no copy uses any more: the one that was given back first, or a new one while that is still in use.
  Buffer take() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      if (!free_.empty()) {
        Buffer b = free_.front();
        cudaError_t state = cudaEventQuery(b.copied);
        if (state == cudaErrorNotReady) cudaGetLastError();
        if (state != cudaErrorNotReady || buffers_ >= max_buffers) {
          free_.pop_front();
          if (state != cudaErrorNotReady) return b;
          lock.unlock();
          cudaError_t code = cudaEventSynchronize(b.copied);
          if (code != cudaSuccess) {
            give(b);
            device_->check(code, "waiting for a copy");
          }
          return b;
        }
      }
      if (buffers_ < max_buffers) {
        buffers_++;
        lock.unlock();
        return make();
      }
      returned_.wait(lock);
    }
  }

  Buffer make() {
    Buffer b;
    cudaError_t code = cudaHostAlloc(&b.memory, chunk_bytes, cudaHostAllocPortable);
    if (code == cudaSuccess) code = cudaEventCreateWithFlags(&b.copied, cudaEventDisableTiming);
    if (code == cudaSuccess) return b;
    if (b.memory) cudaFreeHost(b.memory);
    cudaGetLastError();
    {
      std::lock_guard<std::mutex> lock(mutex_);
      buffers_--;
    }
    returned_.notify_one();
    if (code == cudaErrorMemoryAllocation) throw failure(RADISH_GPU_OUT_OF_MEMORY, "the host has no %lld bytes of memory to pin", (long long)chunk_bytes);
    device_->check(code, "pinning memory");
    return b;
  }

  void give(Buffer b) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      free_.push_back(b);
    }
    returned_.notify_one();
  }

  radish_gpu_device* device_;
  std::mutex mutex_;
  std::condition_variable work_, done_, returned_;
  std::vector<void*> little_; // pinned memory of direct_bytes each, which no copy uses
  std::deque<Buffer> free_;   // in the order they were given back
  int buffers_ = 0;         // in all
  std::deque<std::shared_ptr<Job>> jobs_;
  std::vector<std::thread> workers_;
  bool closing_ = false;
};

} // namespace

std::unique_ptr<Staging> Staging::make(radish_gpu_device* device) { return std::make_unique<Pool>(device); }
