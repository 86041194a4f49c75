// y = A x, A [m, n] row-major. A block sums a few rows side by side, so that each x it loads is
// unpacked once for all of them; its threads share the columns, in one fixed order. A streams past
// the caches, x stays in them. Where there are too few rows for all SMs, blocks share the columns
// too, and a second launch adds their sums.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>

#include "kernels/dot.cuh"
#include "kernels/dtype.cuh"
#include "kernels/reduce.cuh"

namespace kernels {

/// 16-byte loads of A that a thread has in flight, over its rows and along them.
inline constexpr int kGemvLoads = 4;

/// y of kRows rows a block, whose threads share the columns. Rows past the last are read as the
/// last, and their sums dropped: no branch between the loads. Of `splits` > 1 blocks, each sums its
/// part of the columns, into partials[part, row].
template <Dtype T, int kRows>
__global__ void __launch_bounds__(kMaxThreads, kMinBlocksPerSm)
    gemv_kernel(const void* a, const void* x, void* y, float* partials, std::int64_t m,
                std::int64_t n, std::int64_t lda, unsigned splits) {
  constexpr int kLanes = sizeof(Vector) / sizeof(T), kAlong = kGemvLoads / kRows;
  const unsigned step = blockDim.x;
  const std::int64_t vectors = n / kLanes;
  const unsigned part = blockIdx.x % splits;
  const std::int64_t begin = vectors * part / splits, end = vectors * (part + 1) / splits;
  // The tail: the last part's.
  const std::int64_t tail = part == splits - 1 ? vectors * kLanes + threadIdx.x : n;
  for (std::int64_t first = std::int64_t{blockIdx.x / splits} * kRows; first < m;
       first += std::int64_t{gridDim.x / splits} * kRows) {
    const T* row[kRows];
    for (int r = 0; r < kRows; ++r) {
      row[r] = static_cast<const T*>(a) + (first + r < m ? first + r : m - 1) * lda;
    }
    float sums[kRows] = {};
    const auto add = [&]<int kCount>(std::int64_t i) {  // the vectors i, i + step ... of each row
      Vector v[kRows][kCount];
      for (int r = 0; r < kRows; ++r) {
        const Vector* at = reinterpret_cast<const Vector*>(row[r]) + i;
        for (int u = 0; u < kCount; ++u, at += step) load_once(at, v[r][u].word);
      }
      finish_issuing_loads();
      const Vector* at = static_cast<const Vector*>(x) + i;
      for (int u = 0; u < kCount; ++u, at += step) {
        const Vector vx = *at;
        for (int j = 0; j < 4; ++j) {
          for (int r = 0; r < kRows; ++r) multiply_add<T>(v[r][u].word[j], vx.word[j], sums[r]);
        }
      }
    };
    std::int64_t i = begin + threadIdx.x;
    for (; i + std::int64_t{kAlong - 1} * step < end; i += std::int64_t{kAlong} * step)
      add.template operator()<kAlong>(i);
    for (; i < end; i += step) add.template operator()<1>(i);
    if (tail < n) {
      for (int r = 0; r < kRows; ++r) {
        sums[r] +=
            static_cast<float>(row[r][tail]) * static_cast<float>(static_cast<const T*>(x)[tail]);
      }
    }
    block_reduce(sums, std::plus<>());
    for (int r = 0; r < kRows; ++r) {
      using Out = typename DtypeTraits<T>::GemvOutput;
      if (threadIdx.x == 0 && first + r < m) {
        if (splits == 1) {
          static_cast<Out*>(y)[first + r] = static_cast<Out>(sums[r]);
        } else {
          partials[part * m + first + r] = sums[r];
        }
      }
    }
  }
}

/// y[row] = the sum of its `splits` partials, in their order.
template <typename Out>
__global__ void gemv_sum_kernel(const float* partials, void* y, std::int64_t m, unsigned splits) {
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t row = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; row < m;
       row += step) {
    float sum = 0.0F;
    for (unsigned part = 0; part < splits; ++part) sum += partials[part * m + row];
    static_cast<Out*>(y)[row] = static_cast<Out>(sum);
  }
}

/// How many blocks share the columns where the policy is the default, see gemv_splits().
template <Dtype T>
int default_gemv_splits(const Operands& x, const Policy& policy, const Queue& queue) {
  constexpr std::int64_t kLanes = sizeof(Vector) / sizeof(T);
  const std::int64_t rows = policy.vectors, along = kGemvLoads / rows;
  return gemv_splits((x.m + rows - 1) / rows, x.n / (kLanes * along * policy.threads),
                     resident_blocks(policy, queue));
}

/// One fp32 for each row and split; nothing without splits.
inline std::size_t gemv_workspace_bytes(const Operands& x, const Policy& policy, const Queue&) {
  return policy.splits > 1 ? static_cast<std::size_t>(x.m) * policy.splits * sizeof(float) : 0;
}

/// Enqueues y = A x; zeros for n = 0. a: m rows of n elements of T, lda elements apart; b: x, n
/// elements; out: y, m elements of GemvOutput. The policy's vectors are the rows of a block; with
/// its splits, two launches.
template <Dtype T, const auto& kPolicies>
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
  const auto partial_bytes = static_cast<std::int64_t>(gemv_workspace_bytes(x, policy, queue));
  const Range partials{"workspace", x.workspace, partial_bytes};
  check_aligned("gemv", partials, 256);
  check_apart("gemv", partials, {a, b, out});
  if (x.m == 0) return;
  // A block takes `vectors` rows, whatever its threads.
  LaunchConfig grid = grid_for(x.m * policy.threads, policy.vectors, policy, queue);
  const auto splits = static_cast<unsigned>(policy.splits);
  grid.blocks = std::min(grid.blocks, static_cast<unsigned>(kMaxBlocks) / splits) * splits;
  auto* const sums = static_cast<float*>(x.workspace);
  with_form<kPolicies>("gemv", policy, [&]<int kRows, Caching>() {
    launch(grid, gemv_kernel<T, kRows>, x.a, x.b, x.out, sums, x.m, x.n, lda, splits);
  });
  if (splits > 1) {
    launch(grid_for(x.m, 1, policy, queue), gemv_sum_kernel<typename DtypeTraits<T>::GemvOutput>,
           sums, x.out, x.m, splits);
  }
}

}  // namespace kernels
