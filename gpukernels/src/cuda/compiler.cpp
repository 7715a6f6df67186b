// compiler.cpp: NVRTC is no part of the driver and too large to be linked into every copy of this library, so it is loaded from where
// CUDA toolkits and wheels put it.
#include "compiler.h"

#include <dlfcn.h>
#include <glob.h>
#include <nvrtc.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <vector>

#include "status.h"

namespace {

// Products and sums of doubles are not fused, so that they are the CPU's. Textures, the runtime's functions and launches from kernels are left
// out of what NVRTC declares before each source: that is a fifth of what reading a kernel takes. RADISH_GPU_LINES=1 adds the lines that compute-sanitizer and
// profilers show; images have three times the size then.
const std::vector<const char*>& flags() {
  static const std::vector<const char*> all = [] {
    std::vector<const char*> f = {"-std=c++17", "--device-int128", "--fmad=false", "--minimal"};
    if (const char* lines = std::getenv("RADISH_GPU_LINES"); lines && std::string(lines) == "1") f.push_back("-lineinfo");
    return f;
  }();
  return all;
}

struct Nvrtc {
  decltype(&::nvrtcVersion) Version;
  decltype(&::nvrtcGetErrorString) GetErrorString;
  decltype(&::nvrtcGetNumSupportedArchs) GetNumSupportedArchs;
  decltype(&::nvrtcGetSupportedArchs) GetSupportedArchs;
  decltype(&::nvrtcCreateProgram) CreateProgram;
  decltype(&::nvrtcDestroyProgram) DestroyProgram;
  decltype(&::nvrtcCompileProgram) CompileProgram;
  decltype(&::nvrtcGetProgramLogSize) GetProgramLogSize;
  decltype(&::nvrtcGetProgramLog) GetProgramLog;
  decltype(&::nvrtcGetCUBINSize) GetCUBINSize;
  decltype(&::nvrtcGetCUBIN) GetCUBIN;
  decltype(&::nvrtcGetPTXSize) GetPTXSize;
  decltype(&::nvrtcGetPTX) GetPTX;

  int major = 0, minor = 0;
  std::string problem;
};

// The folder that this library lies in.
std::string own_folder() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<void*>(&own_folder), &info) || !info.dli_fname) return ".";
  std::string path = info.dli_fname;
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

// Where to look: a file that the user names is the only place; else what lies beside this library or in its build folder, what the
// system's loader knows, and toolkits.
std::vector<std::string> candidates() {
  if (const char* named = std::getenv("RADISH_NVRTC"); named && *named) return {named};
  std::vector<std::string> folders = {own_folder(), own_folder() + "/cuda/wheels/nvidia/cu13/lib"};
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* home = std::getenv(variable); home && *home)
      for (const char* lib : {"/lib64", "/lib"}) folders.push_back(std::string(home) + lib);
  folders.push_back("/usr/local/cuda/lib64");
  std::vector<std::string> out;
  auto add = [&](const std::string& prefix) {
    for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12"}) out.push_back(prefix + name);
  };
  add(folders[0] + "/");
  add(folders[1] + "/");
  add("");
  for (size_t i = 2; i < folders.size(); i++) add(folders[i] + "/");
  return out;
}

// NVRTC opens its builtins by name, from no folder in particular. Loading the file that lies beside it first lets that find it.
void load_builtins(const std::string& nvrtc) {
  size_t slash = nvrtc.rfind('/');
  if (slash == std::string::npos) return;
  glob_t found;
  if (glob((nvrtc.substr(0, slash) + "/libnvrtc-builtins.so.*").c_str(), 0, nullptr, &found) == 0)
    for (size_t i = 0; i < found.gl_pathc; i++) dlopen(found.gl_pathv[i], RTLD_NOW | RTLD_GLOBAL);
  globfree(&found);
}

Nvrtc find() {
  Nvrtc n{};
  void* lib = nullptr;
  std::string tried;
  for (auto& path : candidates()) {
    lib = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (lib) {
      load_builtins(path);
      break;
    }
    tried += "\n  " + std::string(dlerror());
  }
  if (!lib) {
    n.problem =
        "NVRTC, NVIDIA's run-time compiler, was not found. It is part of the CUDA toolkit (12.4 or newer), of the package cuda-nvrtc-13-0 "
        "and of the Python wheel nvidia-cuda-nvrtc; RADISH_NVRTC may name the file. Tried:" + tried;
    return n;
  }
  auto symbol = [&](auto& pointer, const char* name) {
    pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(dlsym(lib, name));
    if (!pointer && n.problem.empty()) n.problem = std::string("NVRTC is too old: it has no ") + name;
  };
  symbol(n.Version, "nvrtcVersion");
  symbol(n.GetErrorString, "nvrtcGetErrorString");
  symbol(n.GetNumSupportedArchs, "nvrtcGetNumSupportedArchs");
  symbol(n.GetSupportedArchs, "nvrtcGetSupportedArchs");
  symbol(n.CreateProgram, "nvrtcCreateProgram");
  symbol(n.DestroyProgram, "nvrtcDestroyProgram");
  symbol(n.CompileProgram, "nvrtcCompileProgram");
  symbol(n.GetProgramLogSize, "nvrtcGetProgramLogSize");
  symbol(n.GetProgramLog, "nvrtcGetProgramLog");
  symbol(n.GetCUBINSize, "nvrtcGetCUBINSize");
  symbol(n.GetCUBIN, "nvrtcGetCUBIN");
  symbol(n.GetPTXSize, "nvrtcGetPTXSize");
  symbol(n.GetPTX, "nvrtcGetPTX");
  if (n.problem.empty()) n.Version(&n.major, &n.minor);
  return n;
}

const Nvrtc& nvrtc() {
  static const Nvrtc found = find();
  if (!found.problem.empty()) throw Failure{RADISH_GPU_UNAVAILABLE, 0, found.problem};
  return found;
}

void check(const Nvrtc& n, nvrtcResult code, const char* what) {
  if (code == NVRTC_SUCCESS) return;
  Failure f = failure(code == NVRTC_ERROR_OUT_OF_MEMORY ? RADISH_GPU_OUT_OF_MEMORY : RADISH_GPU_INTERNAL, "%s: %s", what, n.GetErrorString(code));
  f.code = code;
  throw f;
}

// The newest chip that the compiler knows, up to the wanted one.
int best_architecture(const Nvrtc& n, int wanted) {
  int count = 0;
  check(n, n.GetNumSupportedArchs(&count), "asking NVRTC for its architectures");
  std::vector<int> known(static_cast<size_t>(count));
  check(n, n.GetSupportedArchs(known.data()), "asking NVRTC for its architectures");
  int best = 0;
  for (int k : known)
    if (k <= wanted) best = std::max(best, k);
  if (best == 0) throw failure(RADISH_GPU_UNAVAILABLE, "NVRTC %d.%d does not compile for compute capability %d.%d", n.major, n.minor, wanted / 10, wanted % 10);
  return best;
}

// The headers of a folder. They are read once, since NVRTC looks for them while it lets nobody else in.
struct Headers {
  std::vector<std::string> names, texts;
  std::vector<const char*> name_pointers, text_pointers;
};

const Headers& headers_of(const std::string& folder) {
  static std::mutex mutex;
  static std::map<std::string, Headers> folders;
  std::lock_guard<std::mutex> lock(mutex);
  Headers& h = folders[folder];
  if (!h.names.empty()) return h;
  glob_t found;
  if (glob((folder + "/*.cuh").c_str(), 0, nullptr, &found) == 0)
    for (size_t i = 0; i < found.gl_pathc; i++) {
      std::string path = found.gl_pathv[i];
      std::ifstream file(path);
      h.texts.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
      h.names.push_back(path.substr(folder.size() + 1));
    }
  globfree(&found);
  for (size_t i = 0; i < h.names.size(); i++) {
    h.name_pointers.push_back(h.names[i].c_str());
    h.text_pointers.push_back(h.texts[i].c_str());
  }
  return h;
}

class Program {
 public:
  Program(const Nvrtc& n, const char* source, const Headers& h) : n_(n) {
    check(n, n.CreateProgram(&program, source, "pipeline.cu", int(h.names.size()), h.text_pointers.data(), h.name_pointers.data()), "starting NVRTC");
  }
  ~Program() { n_.DestroyProgram(&program); }
  nvrtcProgram program = nullptr;

 private:
  const Nvrtc& n_;
};

} // namespace

std::string nvrtc_version() {
  const Nvrtc& n = nvrtc();
  std::string version = "NVRTC " + std::to_string(n.major) + "." + std::to_string(n.minor);
  for (const char* f : flags()) version += std::string(" ") + f;
  return version;
}

std::string nvrtc_compile(int32_t compute_capability, const char* source, const char* include_dir, const char* options) {
  const Nvrtc& n = nvrtc();
  int architecture = best_architecture(n, compute_capability);
  bool exact = architecture == compute_capability;
  std::vector<std::string> args = {(exact ? "--gpu-architecture=sm_" : "--gpu-architecture=compute_") + std::to_string(architecture)};
  args.insert(args.end(), flags().begin(), flags().end());
  // From 12.9 on NVRTC keeps what it made in the driver's cache, too; package gpukernels has one of its own.
  if (n.major > 12 || (n.major == 12 && n.minor >= 9)) args.push_back("--no-cache");
  for (const char* p = options ? options : ""; *p;) {
    const char* end = std::strchr(p, '\n');
    size_t size = end ? size_t(end - p) : std::strlen(p);
    if (size > 0) args.emplace_back(p, size);
    p += size + (end ? 1 : 0);
  }
  std::vector<const char*> argv;
  for (auto& a : args) argv.push_back(a.c_str());
  Program p(n, source, headers_of(include_dir));
  nvrtcResult code = n.CompileProgram(p.program, int(argv.size()), argv.data());
  if (code != NVRTC_SUCCESS) {
    size_t size = 0;
    std::string log;
    if (n.GetProgramLogSize(p.program, &size) == NVRTC_SUCCESS && size > 1) {
      log.resize(size);
      n.GetProgramLog(p.program, log.data());
    }
    Failure f = failure(RADISH_GPU_INTERNAL, "compiling a kernel: %s\n%.1600s", n.GetErrorString(code), log.c_str());
    f.code = code;
    throw f;
  }
  size_t size = 0;
  std::string image;
  if (exact) {
    check(n, n.GetCUBINSize(p.program, &size), "taking the kernel from NVRTC");
    image.resize(size);
    check(n, n.GetCUBIN(p.program, image.data()), "taking the kernel from NVRTC");
  } else {
    check(n, n.GetPTXSize(p.program, &size), "taking the kernel from NVRTC");
    image.resize(size);
    check(n, n.GetPTX(p.program, image.data()), "taking the kernel from NVRTC");
  }
  return image;
}
