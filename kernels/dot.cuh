// Dot product, in two launches: a sum for each block, then the sum of those. No atomics, so one
// grid gives the same bits each time; the second launch is below 1 % of the time of 1 GiB.
#pragma once

#include <cstdint>
#include <functional>

#include "kernels/dtype.cuh"
#include "kernels/reduce.cuh"

namespace kernels {

/// sum += x y, lane by lane, in fp32.
template <Dtype T>
__host__ __device__ void multiply_add(Word x, Word y, float& sum) {
  const auto fx = DtypeTraits<T>::unpack(x), fy = DtypeTraits<T>::unpack(y);
  for (int k = 0; k < kLanesPerWord<T>; ++k) sum += fx.lane[k] * fy.lane[k];
}

template <Dtype T, int kVectors, Caching kCaching>
__global__ void __launch_bounds__(kMaxThreads, kMinBlocksPerSm)
    dot_kernel(const void* a, const void* b, float* partials, std::int64_t n) {
  constexpr int kLanes = sizeof(Vector) / sizeof(T);
  float sums[4] = {};  // one for each word of a vector: chains of additions side by side
  for_tiles<kVectors>(n / kLanes, [a, b, &sums]<int kCount>(std::int64_t first) {
    Word x[4 * kCount], y[4 * kCount];
    load<kCaching>(a, first, x);
    load<kCaching>(b, first, y);
    for (int j = 0; j < 4 * kCount; ++j) multiply_add<T>(x[j], y[j], sums[j % 4]);
  });
  const std::int64_t i = n / kLanes * kLanes + threadIdx.x;  // the tail: the first block's
  if (blockIdx.x == 0 && i < n) {
    sums[0] += static_cast<float>(static_cast<const T*>(a)[i]) *
               static_cast<float>(static_cast<const T*>(b)[i]);
  }
  const float sum = block_reduce((sums[0] + sums[1]) + (sums[2] + sums[3]), std::plus<>());
  if (threadIdx.x == 0) partials[blockIdx.x] = sum;
}

/// out[0] = the sum of `count` partials; one block. Static: not a template, in a header.
static __global__ void sum_kernel(const float* partials, int count, float* out) {
  float sum = 0.0F;
  for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x)) {
    sum += partials[i];
  }
  sum = block_reduce(sum, std::plus<>());
  if (threadIdx.x == 0) out[0] = sum;
}

/// The grid of the first launch, each block of which leaves one fp32 in the workspace.
template <Dtype T>
LaunchConfig dot_grid(std::int64_t n, const Policy& policy, const Queue& queue) {
  check_policy("dot", policy);
  return grid_for(n / std::int64_t{sizeof(Vector) / sizeof(T)}, policy.vectors, policy, queue);
}

/// Enqueues out[0] = sum of a[i] b[i], i < n; 0 for n = 0. a, b: n elements of T; out: one fp32.
template <Dtype T, const auto& kPolicies>
void launch_dot(const Operands& x, const Policy& policy, const Queue& queue) {
  check_count("dot", "n", x.n);
  const LaunchConfig grid = dot_grid<T>(x.n, policy, queue);
  const std::int64_t bytes = x.n * std::int64_t{sizeof(T)};
  const Range a{"a", x.a, bytes}, b{"b", x.b, bytes}, out{"out", x.out, sizeof(float)};
  const Range partials{"workspace", x.workspace, grid.blocks * std::int64_t{sizeof(float)}};
  for (const Range& range : {a, b, out}) check_aligned("dot", range);
  check_aligned("dot", partials, 256);
  check_apart("dot", out, {a, b, partials});
  check_apart("dot", partials, {a, b});
  auto* sums = static_cast<float*>(x.workspace);
  with_form<kPolicies>("dot", policy, [&]<int kVectors, Caching kCaching>() {
    launch(grid, dot_kernel<T, kVectors, kCaching>, x.a, x.b, sums, x.n);
  });
  launch({1, kMaxThreads, queue.stream}, sum_kernel, sums, grid.blocks, static_cast<float*>(x.out));
}

}  // namespace kernels
