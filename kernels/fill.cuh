// Fills memory with benchmark inputs, generated in place.
#pragma once

#include <cstdint>

#include "kernels/dtype.cuh"
#include "kernels/input.h"

namespace kernels {

template <Dtype T>
__global__ void fill_kernel(void* data, InputKind kind, std::uint64_t seed, std::int64_t n) {
  constexpr int kLanes = kLanesPerWord<T>;
  const std::int64_t words = n / kLanes;
  const std::int64_t thread = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (std::int64_t w = thread; w < words; w += std::int64_t{gridDim.x} * blockDim.x) {
    Floats<kLanes> f;
    for (int j = 0; j < kLanes; ++j) f.lane[j] = input(kind, seed, w * kLanes + j);
    static_cast<Word*>(data)[w] = DtypeTraits<T>::pack(f);
  }
  const std::int64_t i = words * kLanes + thread;
  if (i < n) static_cast<T*>(data)[i] = static_cast<T>(input(kind, seed, i));
}

/// Enqueues data[i] = input(kind, seed, i), i < n. `data`: n elements of T, 16-byte aligned.
template <Dtype T>
void launch_fill(void* data, InputKind kind, std::uint64_t seed, std::int64_t n,
                 const Queue& queue) {
  check_count("fill", "n", n);
  check_aligned("fill", {"data", data, n * std::int64_t{sizeof(T)}});
  if (n == 0) return;
  constexpr Policy kPolicy{.threads = 256, .blocks_per_processor = 8};
  const LaunchConfig config = grid_for(n / kLanesPerWord<T>, 1, kPolicy, queue);
  launch(config, fill_kernel<T>, data, kind, seed, n);
}

}  // namespace kernels
