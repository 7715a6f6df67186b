// driver.cpp: finds the driver, and the devices before they are opened.
#include <dlfcn.h>

#include "device.h"

namespace {

constexpr const char* get_driver = "Install NVIDIA's driver (550 or newer), and in a container let it see the GPUs (--gpus all).";

struct Found {
  Driver driver;
  std::string problem;
};

Found find() {
  Found f{};
  void* lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  if (!lib) {
    f.problem = std::string("NVIDIA's driver library cannot be loaded: ") + dlerror() + ". " + get_driver;
    return f;
  }
  auto symbol = [&](auto& pointer, const char* name, bool needed) {
    pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(dlsym(lib, name));
    if (!pointer && needed && f.problem.empty()) f.problem = std::string("NVIDIA's driver is too old: it has no ") + name + ". " + get_driver;
  };
  Driver& d = f.driver;
  symbol(d.DriverGetVersion, "cuDriverGetVersion", true);
  symbol(d.GetErrorName, "cuGetErrorName", true);
  symbol(d.GetErrorString, "cuGetErrorString", true);
  symbol(d.DeviceGet, "cuDeviceGet", true);
  symbol(d.DevicePrimaryCtxGetState, "cuDevicePrimaryCtxGetState", true);
  symbol(d.ModuleLoadDataEx, "cuModuleLoadDataEx", true);
  symbol(d.ModuleUnload, "cuModuleUnload", true);
  symbol(d.ModuleGetFunction, "cuModuleGetFunction", true);
  symbol(d.FuncGetAttribute, "cuFuncGetAttribute", true);
  symbol(d.FuncSetAttribute, "cuFuncSetAttribute", true);
  symbol(d.FuncGetParamInfo, "cuFuncGetParamInfo", false);
  symbol(d.OccupancyMaxActiveBlocksPerMultiprocessor, "cuOccupancyMaxActiveBlocksPerMultiprocessor", true);
  symbol(d.LaunchKernel, "cuLaunchKernel", true);
  return f;
}

} // namespace

const Driver& driver() {
  static const Found found = find();
  if (!found.problem.empty()) throw Failure{RADISH_GPU_UNAVAILABLE, 0, found.problem};
  return found.driver;
}

void check_runtime(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  cudaGetLastError(); // not to be found again by the next who asks
  Failure f = failure(RADISH_GPU_INTERNAL, "%s: %s (%s)", what, cudaGetErrorString(code), cudaGetErrorName(code));
  f.code = code;
  switch (code) {
    case cudaErrorNoDevice:
      f.kind = RADISH_GPU_UNAVAILABLE;
      f.message = "NVIDIA's driver is there, but it sees no GPU. In a container, let it see the GPUs (--gpus all); CUDA_VISIBLE_DEVICES may hide them.";
      break;
    case cudaErrorInsufficientDriver: {
      int has = 0, needs = 0;
      cudaDriverGetVersion(&has);
      cudaRuntimeGetVersion(&needs);
      f = failure(RADISH_GPU_UNAVAILABLE, "NVIDIA's driver is too old: it supports CUDA %d.%d, and this library was built with %d.%d. %s", has / 1000,
                  has % 1000 / 10, needs / 1000, needs % 1000 / 10, get_driver);
      f.code = code;
      break;
    }
    case cudaErrorSystemDriverMismatch:
    case cudaErrorSystemNotReady:
    case cudaErrorCompatNotSupportedOnDevice:
    case cudaErrorInitializationError:
    case cudaErrorDevicesUnavailable:
      f.kind = RADISH_GPU_UNAVAILABLE;
      break;
    default:
      break;
  }
  throw f;
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

RADISH_API radish_gpu_kind radish_gpu_device_count(int32_t* count, radish_gpu_error* err) {
  return guarded(err, [&] {
    driver();
    int n = 0;
    check_runtime(cudaGetDeviceCount(&n), "counting the GPUs");
    *count = n;
  });
}

RADISH_API radish_gpu_kind radish_gpu_device_query(int32_t ordinal, radish_gpu_device_info* info, radish_gpu_error* err) {
  return guarded(err, [&] {
    const Driver& d = driver();
    int n = 0;
    check_runtime(cudaGetDeviceCount(&n), "counting the GPUs");
    if (ordinal < 0 || ordinal >= n) throw failure(RADISH_GPU_USER, "there is no GPU number %d: there are %d", ordinal, n);
    cudaDeviceProp p;
    check_runtime(cudaGetDeviceProperties(&p, ordinal), "asking a GPU for its properties");
    std::memset(info, 0, sizeof *info);
    std::snprintf(info->name, sizeof info->name, "%.100s", p.name);
    std::snprintf(info->library, sizeof info->library, "cuda");
    info->ordinal = ordinal;
    info->compute_capability = p.major * 10 + p.minor;
    int version = 0;
    d.DriverGetVersion(&version);
    info->driver_version = version;
    info->multiprocessors = p.multiProcessorCount;
    info->warp_size = p.warpSize;
    info->max_threads = p.maxThreadsPerBlock;
    info->shared_bytes = int64_t(p.sharedMemPerBlockOptin);
    info->l2_bytes = p.l2CacheSize;
    info->memory_bytes = int64_t(p.totalGlobalMem);
    info->memory_free = -1;
    // Asking for free memory would make a context, which costs memory and time, on a device that nobody uses yet.
    CUdevice device;
    unsigned flags = 0;
    int active = 0;
    if (d.DeviceGet(&device, ordinal) == CUDA_SUCCESS && d.DevicePrimaryCtxGetState(device, &flags, &active) == CUDA_SUCCESS && active) {
      int before = 0;
      cudaGetDevice(&before);
      size_t free_bytes = 0, total = 0;
      if (cudaSetDevice(ordinal) == cudaSuccess && cudaMemGetInfo(&free_bytes, &total) == cudaSuccess) info->memory_free = int64_t(free_bytes);
      cudaSetDevice(before);
      cudaGetLastError();
    }
  });
}
