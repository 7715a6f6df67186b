// module.cpp: generated kernels: compiled by NVRTC, loaded and launched by the driver.
#include <cstdlib>
#include <map>

#include "device.h"
#include "compiler.h"

struct radish_gpu_function {
  radish_gpu_module* module;
  std::string name;
  CUfunction function;
  int64_t param_bytes; // that the kernel takes; -1: the driver cannot tell
};

struct radish_gpu_module {
  radish_gpu_device* device;
  CUmodule module;
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<radish_gpu_function>> functions;
};

namespace {

int32_t capability(radish_gpu_device* device) {
  int major = 0, minor = 0;
  device->check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device->ordinal), "asking for the compute capability");
  device->check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device->ordinal), "asking for the compute capability");
  return major * 10 + minor;
}

void hand_out(const std::string& compiled, void** image, int64_t* image_bytes) {
  *image = std::malloc(compiled.size());
  if (!*image) throw std::bad_alloc();
  std::memcpy(*image, compiled.data(), compiled.size());
  *image_bytes = int64_t(compiled.size());
}

} // namespace

RADISH_API radish_gpu_kind radish_gpu_compile_for(int32_t compute_capability, const char* source, const char* include_dir, const char* options,
                                                  void** image, int64_t* image_bytes, radish_gpu_error* err) {
  return guarded(err, [&] { hand_out(nvrtc_compile(compute_capability, source, include_dir, options), image, image_bytes); });
}

RADISH_API void radish_gpu_image_free(void* image) { std::free(image); }

RADISH_API radish_gpu_kind radish_gpu_compiler_version(radish_gpu_device* device, char* text, int64_t bytes, radish_gpu_error* err) {
  return guarded(err, [&] {
    std::string version = nvrtc_version();
    if (device) version += ", sm_" + std::to_string(capability(device));
    std::snprintf(text, size_t(bytes), "%s", version.c_str());
  });
}

RADISH_API radish_gpu_kind radish_gpu_module_load(radish_gpu_device* device, const void* image, int64_t image_bytes, radish_gpu_module** module,
                                                  radish_gpu_error* err) {
  return guarded(err, [&] {
    device->use();
    require(image_bytes > 0, "an empty image");
    auto m = std::make_unique<radish_gpu_module>();
    m->device = device;
    char log[1024] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
    CUresult code = driver().ModuleLoadDataEx(&m->module, image, 2, options, values);
    device->check(code, log[0] ? log : "loading a compiled kernel");
    *module = m.release();
  });
}

RADISH_API void radish_gpu_module_unload(radish_gpu_module* module) {
  if (!module) return;
  cudaSetDevice(module->device->ordinal);
  driver().ModuleUnload(module->module);
  delete module;
}

RADISH_API radish_gpu_kind radish_gpu_module_function(radish_gpu_module* module, const char* name, radish_gpu_function** function,
                                                      radish_gpu_error* err) {
  return guarded(err, [&] {
    module->device->use();
    std::lock_guard<std::mutex> lock(module->mutex);
    auto it = module->functions.find(name);
    if (it == module->functions.end()) {
      const Driver& d = driver();
      auto f = std::make_unique<radish_gpu_function>();
      f->module = module;
      f->name = name;
      CUresult code = d.ModuleGetFunction(&f->function, module->module, name);
      if (code == CUDA_ERROR_NOT_FOUND) throw failure(RADISH_GPU_USER, "the module has no kernel %s", name);
      module->device->check(code, "finding a kernel");
      f->param_bytes = -1;
      size_t offset = 0, size = 0;
      if (d.FuncGetParamInfo && d.FuncGetParamInfo(f->function, 0, &offset, &size) == CUDA_SUCCESS) f->param_bytes = int64_t(offset + size);
      int shared = 0;
      module->device->check(d.FuncGetAttribute(&shared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, f->function), "asking for a kernel's needs");
      // Allows all that the chip has; how much a launch takes is up to it.
      module->device->check(d.FuncSetAttribute(f->function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, int(module->device->max_shared) - shared),
                            "allowing a kernel shared memory");
      it = module->functions.emplace(name, std::move(f)).first;
    }
    *function = it->second.get();
  });
}

RADISH_API radish_gpu_kind radish_gpu_function_info(radish_gpu_function* function, int32_t block, int64_t shared_bytes, int32_t* registers,
                                                    int32_t* local_bytes, int32_t* blocks_per_multiprocessor, radish_gpu_error* err) {
  return guarded(err, [&] {
    radish_gpu_device* device = function->module->device;
    device->use();
    const Driver& d = driver();
    int value = 0;
    if (registers) {
      device->check(d.FuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, function->function), "asking for a kernel's needs");
      *registers = value;
    }
    if (local_bytes) {
      device->check(d.FuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, function->function), "asking for a kernel's needs");
      *local_bytes = value;
    }
    if (blocks_per_multiprocessor) {
      device->check(d.OccupancyMaxActiveBlocksPerMultiprocessor(&value, function->function, block, size_t(shared_bytes)), "asking for a kernel's needs");
      *blocks_per_multiprocessor = value;
    }
  });
}

RADISH_API radish_gpu_kind radish_gpu_launch(radish_gpu_function* function, radish_gpu_stream* stream, int64_t grid, int32_t block, int64_t shared_bytes,
                                             const uint64_t* params, int32_t words, radish_gpu_error* err) {
  return guarded(err, [&] {
    radish_gpu_device* device = stream->device;
    require(function->module->device == device, "the kernel and the stream belong to different devices");
    require(grid >= 1 && grid <= 0x7fffffff, "the grid must have 1 to 2^31-1 blocks");
    require(block >= 1 && block <= 1024, "a block has 1 to 1024 threads");
    if (shared_bytes < 0 || shared_bytes > device->max_shared)
      throw failure(RADISH_GPU_USER, "kernel %s: %lld bytes of shared memory, and a block may have %lld", function->name.c_str(), (long long)shared_bytes,
                    (long long)device->max_shared);
    require(words >= 0 && words <= RADISH_GPU_LAUNCH_WORDS, "more words of parameters than a launch takes");
    if (function->param_bytes >= 0 && function->param_bytes != int64_t(words) * 8)
      throw failure(RADISH_GPU_USER, "kernel %s takes %lld words of parameters, not %d", function->name.c_str(), (long long)function->param_bytes / 8, words);
    device->use();
    {
      std::lock_guard<std::mutex> lock(device->mutex);
      std::snprintf(stream->names[stream->launched % radish_gpu_stream::max_names], sizeof stream->names[0], "%s", function->name.c_str());
      stream->launched++;
    }
    void* arguments[] = {const_cast<uint64_t*>(params)};
    CUresult code =
        driver().LaunchKernel(function->function, unsigned(grid), 1, 1, unsigned(block), 1, 1, unsigned(shared_bytes), stream->stream, arguments, nullptr);
    if (code != CUDA_SUCCESS) device->check(code, ("launching kernel " + function->name).c_str());
  });
}
