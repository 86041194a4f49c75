// The copy of the CUDA runtime, peer of our copy kernel.
#include <cuda_runtime_api.h>

#include "bench/implementation.h"
#include "kernels/device_buffer.h"

namespace bench {
namespace {

using roofline::Case;
using roofline::Op;

bool offers(Op op, const Device& /*device*/) { return op == Op::copy; }

std::optional<std::string> refuses(const Case& /*c*/, const Device& /*device*/) {
  return std::nullopt;
}

std::vector<Alternatives> variants(const Case& /*c*/, Device& /*device*/) {
  return {{"cudaMemcpyAsync"}};
}

Work prepare(const Case& /*c*/, const std::string& /*variant*/, const Operands& operands,
             Device& device) {
  Work work;
  work.launch = [&operands, bytes = operands.shapes().out.bytes(),
                 stream = static_cast<cudaStream_t>(device.queue().stream)](int copy) {
    const Operands::Copy& at = operands[copy];
    CUDA_CHECK(cudaMemcpyAsync(at.out.get(), at.a.get(), bytes, cudaMemcpyDeviceToDevice, stream));
  };
  return work;
}

}  // namespace

const Implementation kCudart{names::kCudart, "cuda", &offers, &refuses, &variants, &prepare, true};

}  // namespace bench
