// y = A x, A [m, n] row-major. A block sums a few rows side by side, so that each x it loads is
// unpacked once for all of them; its threads share the columns, in one fixed order.
#pragma once

#include <cstdint>
#include <functional>

#include "kernels/dot.cuh"
#include "kernels/dtype.cuh"
#include "kernels/reduce.cuh"

namespace kernels {

/// kRows rows of A, one 16-byte load of each in flight a thread. Rows past the last are read as the
/// last, and their sums dropped: no branch between the loads.
template <Dtype T, int kRows>
__global__ void __launch_bounds__(kMaxThreads, kMinBlocksPerSm)
    gemv_kernel(const void* a, const void* x, void* y, std::int64_t m, std::int64_t n,
                std::int64_t lda) {
  constexpr int kLanes = sizeof(Vector) / sizeof(T);
  const std::int64_t vectors = n / kLanes, tail = vectors * kLanes + threadIdx.x;
  for (std::int64_t first = std::int64_t{blockIdx.x} * kRows; first < m;
       first += std::int64_t{gridDim.x} * kRows) {
    const T* row[kRows];
    for (int r = 0; r < kRows; ++r) {
      row[r] = static_cast<const T*>(a) + (first + r < m ? first + r : m - 1) * lda;
    }
    float sums[kRows] = {};
    for (std::int64_t i = threadIdx.x; i < vectors; i += blockDim.x) {
      Vector v[kRows];
      for (int r = 0; r < kRows; ++r) v[r] = reinterpret_cast<const Vector*>(row[r])[i];
      const Vector vx = static_cast<const Vector*>(x)[i];
      for (int j = 0; j < 4; ++j) {
        for (int r = 0; r < kRows; ++r) multiply_add<T>(v[r].word[j], vx.word[j], sums[r]);
      }
    }
    for (int r = 0; r < kRows; ++r) {
      if (tail < n) {
        sums[r] +=
            static_cast<float>(row[r][tail]) * static_cast<float>(static_cast<const T*>(x)[tail]);
      }
      const float sum = block_reduce(sums[r], std::plus<>());
      using Out = typename DtypeTraits<T>::GemvOutput;
      if (threadIdx.x == 0 && first + r < m)
        static_cast<Out*>(y)[first + r] = static_cast<Out>(sum);
    }
  }
}

/// Enqueues y = A x; zeros for n = 0. a: m rows of n elements of T, lda elements apart; b: x, n
/// elements; out: y, m elements of GemvOutput. The policy's vectors are rows.
template <Dtype T>
void launch_gemv(const Operands& x, const Policy& policy, const Queue& queue) {
  constexpr std::int64_t kSize = sizeof(T), kOutSize = sizeof(typename DtypeTraits<T>::GemvOutput);
  check_count("gemv", "m", x.m);
  check_count("gemv", "n", x.n);
  check_policy("gemv", policy);
  const std::int64_t lda = checked_lda("gemv", x, kSize);
  const Range a{"a", x.a, x.m == 0 ? 0 : ((x.m - 1) * lda + x.n) * kSize};
  const Range b{"b", x.b, x.n * kSize}, out{"out", x.out, x.m * kOutSize};
  for (const Range& range : {a, b, out}) check_aligned("gemv", range);
  check_apart("gemv", out, {a, b});
  if (x.m == 0) return;
  // A block takes `vectors` rows, whatever its threads.
  const LaunchConfig grid = grid_for(x.m * policy.threads, policy.vectors, policy, queue);
  with_vectors<1, 2, 4>("gemv", policy, [&]<int kRows>() {
    launch(grid, gemv_kernel<T, kRows>, x.a, x.b, x.out, x.m, x.n, lda);
  });
}

}  // namespace kernels
