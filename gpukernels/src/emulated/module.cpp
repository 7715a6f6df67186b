// module.cpp: kernels as shared objects. g++ compiles a source with -DRADISH_EMULATED; the image is loaded from memory and its
// kernels are called block by block (device/thread.cuh has the other half).
#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csetjmp>
#include <cstdlib>

#include "emulated.h"

extern char** environ;

namespace {

// A file in memory, named by its descriptor.
class MemoryFile {
 public:
  explicit MemoryFile(const char* name) : fd_(memfd_create(name, MFD_CLOEXEC)) {
    if (fd_ < 0) throw failure(RADISH_GPU_INTERNAL, "memfd_create: %s", std::strerror(errno));
  }
  ~MemoryFile() {
    if (fd_ >= 0) close(fd_);
  }
  void leak() { fd_ = -1; }
  int fd() const { return fd_; }
  std::string path() const { return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(fd_); }
  void write(const void* data, size_t bytes) {
    auto* p = static_cast<const char*>(data);
    while (bytes > 0) {
      ssize_t n = ::write(fd_, p, bytes);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) throw failure(RADISH_GPU_INTERNAL, "writing a file in memory: %s", std::strerror(errno));
      p += n;
      bytes -= size_t(n);
    }
  }
  std::string read() const {
    std::string out;
    char buffer[1 << 16];
    off_t at = 0;
    for (;;) {
      ssize_t n = pread(fd_, buffer, sizeof buffer, at);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return out;
      out.append(buffer, size_t(n));
      at += n;
    }
  }

 private:
  int fd_;
};

} // namespace

struct radish_gpu_function {
  radish_gpu_module* module;
  std::string name;
  void (*entry)(const void*, const void*);
  int words;
};

struct radish_gpu_module {
  explicit radish_gpu_module(radish_gpu_device* d) : device(d), file("radish-module") {}
  ~radish_gpu_module() {
    if (handle) dlclose(handle);
    // dlopen takes a path that it knows for the library that it knows: this one must not come again while that is loaded.
    if (dlopen(file.path().c_str(), RTLD_NOW | RTLD_NOLOAD)) file.leak();
  }
  radish_gpu_device* device;
  MemoryFile file;
  void* handle = nullptr;
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<radish_gpu_function>> functions;
};

namespace {

// As device/thread.cuh has it.
struct Launch {
  int64_t grid;
  int64_t shared_bytes;
  unsigned char* shared;
  bool backward;
  void (*stop)(const char* message);
};

// How a kernel is left in its middle. Its frames hold nothing that has to be destroyed.
thread_local std::jmp_buf way_out;
thread_local const char* stopped_by;

void stop(const char* message) {
  stopped_by = message;
  std::longjmp(way_out, 1);
}

// Blocks of a GPU run in any order. RADISH_EMULATED_ORDER=backward runs the last one first, to find what counts on the other order.
bool backward() {
  static const bool is = [] {
    const char* order = std::getenv("RADISH_EMULATED_ORDER");
    return order && !std::strcmp(order, "backward");
  }();
  return is;
}

// Bytes beside a block's shared memory, so many that an index a little outside of a table does not come to what malloc keeps.
constexpr size_t shared_zone = 4096;

// Runs a kernel and returns null, or the message of what stopped it.
const char* run_kernel(void (*entry)(const void*, const void*), const void* params, const Launch* launch) {
  in_kernel = true;
  if (setjmp(way_out) != 0) {
    in_kernel = false;
    return stopped_by;
  }
  entry(params, launch);
  in_kernel = false;
  return nullptr;
}

// No unique symbols: they would keep a library loaded for ever. -O1 compiles in half the time of -O2. What is sanitized would be a fault or
// garbage on a GPU; device/thread.cuh has the handlers. The sanitizer's own library, which would take over signals from the Go runtime,
// is left out by naming the libraries that are linked.
constexpr const char* flags[] = {"-std=c++17", "-O1", "-shared", "-fPIC", "-fno-strict-aliasing", "-fno-gnu-unique",
                                 "-fsanitize=alignment,null,shift-exponent,integer-divide-by-zero,bounds", "-fno-sanitize-recover=all", "-nodefaultlibs", "-fno-exceptions",
                                 "-DRADISH_EMULATED", "-w"};

std::string compiler() {
  const char* cxx = std::getenv("RADISH_CXX");
  return cxx && *cxx ? cxx : "g++";
}

// Runs a program without a shell, its output and errors going to a file. Returns its exit status.
int run(const std::vector<std::string>& args, const MemoryFile& output) {
  std::vector<char*> argv;
  for (auto& a : args) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output.fd(), 1);
  posix_spawn_file_actions_adddup2(&actions, output.fd(), 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none); // threads of the Go runtime may block signals
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t pid;
  int rc = posix_spawnp(&pid, argv[0], &actions, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (rc != 0)
    throw Failure{RADISH_GPU_UNAVAILABLE, rc,
                  "cannot start the C++ compiler " + args[0] + " (" + std::strerror(rc) + "): install g++ or name one in RADISH_CXX"};
  int status;
  while (waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) throw failure(RADISH_GPU_INTERNAL, "waitpid: %s", std::strerror(errno));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string compile(const char* source, const char* include_dir, const char* options) {
  MemoryFile in("radish-source"), out("radish-image"), log("radish-log");
  static const char name[] = "#line 1 \"pipeline.cu\"\n"; // for messages
  in.write(name, sizeof name - 1);
  in.write(source, std::strlen(source));
  // The compiler opens both through this process's descriptors.
  std::vector<std::string> args = {compiler()};
  args.insert(args.end(), std::begin(flags), std::end(flags));
  args.insert(args.end(), {"-I", include_dir});
  for (const char* p = options ? options : ""; *p;) {
    const char* end = std::strchr(p, '\n');
    size_t n = end ? size_t(end - p) : std::strlen(p);
    if (n > 0) args.emplace_back(p, n);
    p += n + (end ? 1 : 0);
  }
  args.insert(args.end(), {"-x", "c++", in.path(), "-o", out.path(), "-lstdc++", "-lm", "-lgcc_s", "-lc"});
  int status = run(args, log);
  if (status != 0)
    throw failure(RADISH_GPU_INTERNAL, "%s ended with status %d:\n%.1500s", compiler().c_str(), status, log.read().c_str());
  return out.read();
}

} // namespace

RADISH_API radish_gpu_kind radish_gpu_compile_for(int32_t, const char* source, const char* include_dir, const char* options, void** image,
                                                  int64_t* image_bytes, radish_gpu_error* err) {
  return guarded(err, [&] {
    std::string so = compile(source, include_dir, options);
    *image = std::malloc(so.size());
    if (!*image) throw std::bad_alloc();
    std::memcpy(*image, so.data(), so.size());
    *image_bytes = int64_t(so.size());
  });
}

RADISH_API void radish_gpu_image_free(void* image) { std::free(image); }

RADISH_API radish_gpu_kind radish_gpu_compiler_version(radish_gpu_device*, char* text, int64_t bytes, radish_gpu_error* err) {
  return guarded(err, [&] {
    MemoryFile log("radish-log");
    int status = run({compiler(), "--version"}, log);
    if (status != 0) throw failure(RADISH_GPU_UNAVAILABLE, "%s --version ended with status %d", compiler().c_str(), status);
    std::string all = log.read();
    std::string version = "emulated, " + all.substr(0, all.find('\n'));
    for (const char* f : flags) version += std::string(" ") + f;
    std::snprintf(text, size_t(bytes), "%s", version.c_str());
  });
}

RADISH_API radish_gpu_kind radish_gpu_module_load(radish_gpu_device* device, const void* image, int64_t image_bytes, radish_gpu_module** module,
                                                  radish_gpu_error* err) {
  return guarded(err, [&] {
    device->check();
    std::unique_ptr<radish_gpu_module> made(new radish_gpu_module(device));
    made->file.write(image, size_t(image_bytes));
    made->handle = dlopen(made->file.path().c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!made->handle) throw failure(RADISH_GPU_INTERNAL, "loading a compiled kernel: %s", dlerror());
    *module = made.release();
  });
}

RADISH_API void radish_gpu_module_unload(radish_gpu_module* module) {
  delete module;
}

RADISH_API radish_gpu_kind radish_gpu_module_function(radish_gpu_module* module, const char* name, radish_gpu_function** function,
                                                      radish_gpu_error* err) {
  return guarded(err, [&] {
    std::lock_guard<std::mutex> lock(module->mutex);
    auto& slot = module->functions[name];
    if (!slot) {
      void* entry = dlsym(module->handle, name);
      auto* words = static_cast<const int*>(dlsym(module->handle, (std::string(name) + "_words").c_str()));
      if (!entry || !words) throw failure(RADISH_GPU_USER, "the module has no kernel %s", name);
      slot.reset(new radish_gpu_function{module, name, reinterpret_cast<void (*)(const void*, const void*)>(entry), *words});
    }
    *function = slot.get();
  });
}

RADISH_API radish_gpu_kind radish_gpu_function_info(radish_gpu_function* function, int32_t, int64_t, int32_t* registers, int32_t* local_bytes,
                                                    int32_t* blocks_per_multiprocessor, radish_gpu_error* err) {
  return guarded(err, [&] {
    function->module->device->check();
    if (registers) *registers = 0;
    if (local_bytes) *local_bytes = 0;
    if (blocks_per_multiprocessor) *blocks_per_multiprocessor = 1;
  });
}

RADISH_API radish_gpu_kind radish_gpu_launch(radish_gpu_function* function, radish_gpu_stream* stream, int64_t grid, int32_t block,
                                             int64_t shared_bytes, const uint64_t* params, int32_t words, radish_gpu_error* err) {
  return guarded(err, [&] {
    StreamUse use(stream, nullptr, true);
    require(function->module->device == stream->device, "the kernel and the stream belong to different devices");
    require(block == 1, "the emulated device runs blocks of one thread");
    require(grid >= 1 && grid <= 0x7fffffff, "the grid must have 1 to 2^31-1 blocks");
    require(shared_bytes >= 0 && shared_bytes <= 227 << 10, "more shared memory than a block may have");
    require(words >= 0 && words <= RADISH_GPU_LAUNCH_WORDS, "more words of parameters than a launch takes");
    if (words != function->words)
      throw failure(RADISH_GPU_USER, "kernel %s takes %d words of parameters, not %d", function->name.c_str(), function->words, words);
    // Before and behind it lie bytes that nobody may write to.
    size_t capacity = 2 * shared_zone + (size_t(shared_bytes) + 15) / 16 * 16;
    std::unique_ptr<unsigned char, void (*)(void*)> memory(static_cast<unsigned char*>(std::aligned_alloc(16, capacity)), std::free);
    if (!memory) throw std::bad_alloc();
    std::memset(memory.get(), 0xF5, capacity);
    unsigned char* shared = memory.get() + shared_zone;
    Launch launch{grid, shared_bytes, shared, backward(), stop};
    if (stream->device->heap.region()) catch_faults(stop);
    const char* trap = run_kernel(function->entry, params, &launch);
    if (trap) {
      stream->device->lose("kernel " + function->name + " was stopped: " + trap);
      stream->device->check();
    }
    auto written = [](unsigned char byte) { return byte != 0xF5; };
    if (std::any_of(memory.get(), shared, written) || std::any_of(shared + shared_bytes, memory.get() + capacity, written))
      throw failure(RADISH_GPU_INTERNAL, "kernel %s wrote outside its %lld bytes of shared memory", function->name.c_str(), (long long)shared_bytes);
    use.heap().check_red_zones(("kernel " + function->name).c_str());
  });
}
