// The one place that starts a kernel. Kernel files call launch() and hold no <<<>>>, so that a host
// compiler reads them too: nvcc takes the form below, any other compiler runs kernels on fibers.
#pragma once

#include "kernels/grid.h"

#ifdef __CUDACC__

#include <cuda_runtime_api.h>

#include "kernels/device_buffer.h"

namespace kernels {

/// Enqueues kernel(arguments...) and returns before it has run. Each argument is converted to the
/// type of its parameter. Throws CudaError if the launch is refused (no code for this device) or if
/// an earlier one has failed.
template <typename... Parameters, typename... Arguments>
void launch(const LaunchConfig& config, void (*kernel)(Parameters...), Arguments... arguments) {
  cudaLaunchConfig_t native{};
  native.gridDim = dim3(config.blocks);
  native.blockDim = dim3(config.threads);
  native.stream = static_cast<cudaStream_t>(config.stream);
  CUDA_CHECK(cudaLaunchKernelEx(&native, kernel, arguments...));
}

}  // namespace kernels

#else

#include "kernels/fibers/fibers.h"  // threadIdx and its kin, and a launch() of the same shape

#endif
