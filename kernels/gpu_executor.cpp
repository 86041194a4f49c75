// The executor of a machine with a GPU: the first one.
#include <cuda_runtime_api.h>

#include "kernels/device_buffer.h"
#include "kernels/executor.h"

namespace kernels {
namespace {

std::shared_ptr<std::byte> allocate(std::size_t bytes) {
  const auto buffer = std::make_shared<DeviceBuffer<std::byte>>(bytes);
  return {buffer, buffer->data()};
}

void copy(void* to, const void* from, std::size_t bytes) {
  CUDA_CHECK(cudaMemcpy(to, from, bytes, cudaMemcpyDefault));
}

int compute_capability() {
  int major = 0, minor = 0;
  CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  CUDA_CHECK(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0));
  return 10 * major + minor;
}

}  // namespace

std::vector<Executor> executors() {
  return {{"gpu",
           cuda_kernels(),
           cuda_fill,
           {nullptr, 1},
           allocate,
           copy,
           {},
           {},
           launch_clock_stamp,
           compute_capability}};
}

std::string unusable() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  // No driver but the toolkit's stub of it; none, or one that is too old; no device.
  if (error == cudaErrorStubLibrary || error == cudaErrorInsufficientDriver ||
      error == cudaErrorNoDevice) {
    return std::string("no usable GPU: ") + cudaGetErrorString(error);
  }
  CUDA_CHECK(error);
  return "";
}

}  // namespace kernels
