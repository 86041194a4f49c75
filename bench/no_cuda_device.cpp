// Stands in for cuda_device.cpp in a build without CUDA.
#include <dlfcn.h>

#include "bench/cuda_device.h"

namespace bench {
namespace {

/// Whether libcuda is there, and is not the toolkit's stub of it. Never closed: a driver that has
/// been initialised may have threads.
bool has_driver() {
  constexpr int kStubLibrary = 34;  // CUDA_ERROR_STUB_LIBRARY in cuda.h
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return false;
  auto* const init = reinterpret_cast<int (*)(unsigned)>(dlsym(library, "cuInit"));
  return init != nullptr && init(0) != kStubLibrary;
}

}  // namespace

std::optional<std::string> why_not_cuda() {
  if (has_driver()) return std::nullopt;
  return "no NVIDIA driver, and no CUDA in this build";
}

std::unique_ptr<Device> make_cuda_device(int /*ordinal*/) {
  throw Unavailable(
      "this build has no CUDA, so that no GPU can be measured; build with the gpu preset (needs "
      "nvcc "
      ">= 12.4), or measure the CPU with --device=cpu");
}

}  // namespace bench
