// main.cpp: radish-gpu-compiler, a process that compiles kernels for another one. NVRTC lets one thread of a process in at a time, so processes
// are how several kernels are compiled at once. The parent (gpukernels/worker.go) starts it with a pipe at its standard input and one at its standard output, and
// the compute capability that kernels will be compiled for as its argument.
//
// It says hello, then answers one request after the other until its input ends. All numbers are 32 bits wide, in the machine's order:
//
//   request:  compute capability, bytes of the source, of the headers' folder, of the options; then these three, as radish_gpu_compile_for takes them
//   answer:   radish_gpu_kind, NVRTC's code, bytes; then the image, or the error's message
//   hello:    an answer with the protocol's number as code and the compiler's version as image, or with the error that there is no compiler
#include <dirent.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "../cuda/compiler.h"
#include "status.h"

namespace {

constexpr int32_t protocol = 1; // gpukernels/worker.go has the same number
constexpr uint32_t most_bytes = 64 << 20; // of a request's text
constexpr int most_kept = 128 << 20;      // bytes of free memory that are not given back to the system

// Closes what the parent had open without meaning to hand it on: sockets, files, the GPU.
void close_inherited() {
  DIR* open = opendir("/proc/self/fd");
  if (!open) return;
  while (const dirent* entry = readdir(open)) {
    int fd = std::atoi(entry->d_name);
    if (fd > STDERR_FILENO && fd != dirfd(open)) close(fd);
  }
  closedir(open);
}

// Ends the process when nobody can write to its input any more: the parent has gone, even if a kernel is being compiled just now.
void end_with_parent() {
  pollfd input{STDIN_FILENO, 0, 0};
  while (poll(&input, 1, -1) < 0 && errno == EINTR) {
  }
  _exit(0);
}

// Reads so many bytes; false: the input has ended.
bool read_all(void* to, size_t bytes) {
  auto* p = static_cast<char*>(to);
  while (bytes > 0) {
    ssize_t n = read(STDIN_FILENO, p, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    p += n;
    bytes -= size_t(n);
  }
  return true;
}

void write_all(int fd, const void* from, size_t bytes) {
  auto* p = static_cast<const char*>(from);
  while (bytes > 0) {
    ssize_t n = write(fd, p, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) _exit(1);
    p += n;
    bytes -= size_t(n);
  }
}

void answer(int fd, int32_t kind, int32_t code, const std::string& text) {
  const int32_t head[] = {kind, code, int32_t(text.size())};
  write_all(fd, head, sizeof head);
  write_all(fd, text.data(), text.size());
}

// Answers with what f returns, or with its failure.
template <typename F>
bool respond(int fd, int32_t code, F f) {
  std::string text;
  radish_gpu_error err{};
  radish_gpu_kind kind = guarded(&err, [&] { text = f(); });
  if (kind == RADISH_GPU_OK) {
    answer(fd, RADISH_GPU_OK, code, text);
    return true;
  }
  answer(fd, kind, err.code, err.message);
  return false;
}

} // namespace

int main(int argc, char** argv) {
  close_inherited();
  // Nothing that NVRTC might print gets among the answers.
  const int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (out < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return 1;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // Queries that run on the CPU meanwhile go before; where nothing else runs this changes nothing.
  setpriority(PRIO_PROCESS, 0, 3);
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  // Where memory runs out, this process goes before the one whose tables it serves.
  if (int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC); score >= 0) {
    if (write(score, "500", 3) < 0) errno = 0; // it is a wish
    close(score);
  }
  // Memory is kept from one kernel to the next: a tenth of what a kernel takes would be the system's work for memory that was just given back.
  mallopt(M_TRIM_THRESHOLD, most_kept);
  mallopt(M_MMAP_THRESHOLD, most_kept);
  mallopt(M_TOP_PAD, 16 << 20);
  std::thread(end_with_parent).detach();

  const int32_t capability = argc > 1 ? std::atoi(argv[1]) : 0;
  bool ready = respond(out, protocol, [&] {
    std::string version = nvrtc_version();
    // The first compilation of a process takes longer: it is one that nobody waits for.
    if (capability > 0) nvrtc_compile(capability, "extern \"C\" __global__ void first() {}", "", "");
    return version;
  });
  for (uint32_t head[4]; ready && read_all(head, sizeof head);) {
    std::string texts[3];
    for (int i = 0; i < 3; i++) {
      if (head[i + 1] > most_bytes) return 1;
      texts[i].resize(head[i + 1]);
      if (!read_all(texts[i].data(), texts[i].size())) return 0;
    }
    respond(out, 0, [&] { return nvrtc_compile(int32_t(head[0]), texts[0].c_str(), texts[1].c_str(), texts[2].c_str()); });
  }
  _exit(0); // NVRTC's destructors have nothing to say
}
