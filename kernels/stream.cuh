// The stream kernels, which measure what memory gives: read, write, copy, triad. And an empty one,
// which measures what a launch costs.
#pragma once

#include <cstdint>
#include <functional>

#include "kernels/dtype.cuh"
#include "kernels/elementwise.cuh"
#include "kernels/reduce.cuh"

namespace kernels {

/// Bytes as they are, whatever they mean: one kernel for all dtypes.
struct Copy {
  using Element = std::uint8_t;
  static constexpr const char* kName = "copy";
  static constexpr int kInputs = 1;
  __host__ __device__ Word operator()(Word w) const { return w; }
};

/// Ones, without reading.
template <Dtype T>
struct Write {
  using Element = T;
  static constexpr const char* kName = "write";
  static constexpr int kInputs = 0;
  __host__ __device__ Word operator()() const {
    Floats<kLanesPerWord<T>> ones;
    for (float& one : ones.lane) one = 1.0F;
    return DtypeTraits<T>::pack(ones);
  }
};

/// a + 3 b (McCalpin's STREAM, whose scalar is 3), rounded to fp32 once.
template <Dtype T>
struct Triad {
  using Element = T;
  static constexpr const char* kName = "triad";
  static constexpr int kInputs = 2;
  __host__ __device__ Word operator()(Word a, Word b) const {
    return map<T>([](float x, float y) { return fmaf(3.0F, y, x); }, a, b);
  }
};

/// partials[block] = all 32-bit words that the block read, XORed: cheap, exact in any order, and
/// a result, so that no load can be left out. What is left of a last word is padded with zeros.
template <int kVectors, Caching kCaching>
__global__ void __launch_bounds__(kMaxThreads, kMinBlocksPerSm)
    read_kernel(const void* a, Word* partials, std::int64_t bytes) {
  constexpr std::int64_t kBytes = sizeof(Vector);
  Word sum = 0;
  for_tiles<kVectors>(bytes / kBytes, [a, &sum]<int kCount>(std::int64_t first) {
    Word x[4 * kCount];
    load<kCaching>(a, first, x);
    for (const Word w : x) sum ^= w;
  });
  const std::int64_t i = bytes / kBytes * kBytes + threadIdx.x;  // the tail: the first block's
  if (blockIdx.x == 0 && i < bytes) {
    sum ^= Word{static_cast<const std::uint8_t*>(a)[i]} << (8 * (i % sizeof(Word)));
  }
  sum = block_reduce(sum, std::bit_xor<>());
  if (threadIdx.x == 0) partials[blockIdx.x] = sum;
}

/// The grid of a read, each block of which leaves one Word in the workspace.
inline LaunchConfig read_grid(std::int64_t bytes, const Policy& policy, const Queue& queue) {
  check_policy("read", policy);
  return grid_for(bytes / std::int64_t{sizeof(Vector)}, policy.vectors, policy, queue);
}

/// Enqueues workspace[block] = XOR of the words that the block read of a, `bytes` of it.
template <const auto& kPolicies>
void launch_read(const Operands& x, std::int64_t bytes, const Policy& policy, const Queue& queue) {
  const LaunchConfig config = read_grid(bytes, policy, queue);
  const Range a{"a", x.a, bytes};
  const Range partials{"workspace", x.workspace, config.blocks * std::int64_t{sizeof(Word)}};
  check_aligned("read", a);
  check_aligned("read", partials, 256);
  check_apart("read", partials, {a});
  with_form<kPolicies>("read", policy, [&]<int kVectors, Caching kCaching>() {
    launch(config, read_kernel<kVectors, kCaching>, x.a, static_cast<Word*>(x.workspace), bytes);
  });
}

/// What a launch costs. Not a template, hence static: each file has its own.
static __global__ void empty_kernel() {}

}  // namespace kernels
