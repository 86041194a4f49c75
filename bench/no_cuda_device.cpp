// Stands in for cuda_device.cpp in a build without CUDA.
#include "bench/cuda_device.h"

namespace bench {

std::optional<std::string> why_not_cuda() { return "this build has no CUDA"; }

std::unique_ptr<Device> make_cuda_device(int /*ordinal*/) {
  throw Unavailable(
      "--device=cuda: this build has no CUDA; build with the gpu preset (needs nvcc >= 12.4), or "
      "measure the CPU with --device=cpu");
}

}  // namespace bench
