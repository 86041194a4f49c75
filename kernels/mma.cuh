// What the tensor cores give: products of constants in shared memory, summed in registers.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/dtype.cuh"
#include "kernels/launch.cuh"
#include "kernels/tensor_cores.cuh"

namespace kernels {

/// The operands of four steps, which take turns so that bits keep toggling. All vectors of A are
/// alike in a step, and all of B.
struct MmaSteps {
  static constexpr int kCount = 4;
  Vector a[kCount], b[kCount];
};

/// Steps that add 2, -1, 1 and -1: none can be left out unseen, and after each turn every sum is 1
/// more. The elements are exact in every type and the products multiples of 1/2; Hopper adds those
/// of FP8 with about 14 bits, exactly while sums stay below 2^12.
template <Dtype T>
MmaSteps mma_steps() {
  constexpr float kMagnitudes[] = {2, 1, 3, 1.5}, kAdded[] = {2, -1, 1, -1};
  constexpr int kLanes = sizeof(Vector) / sizeof(T), kPerWord = kLanesPerWord<T>;
  MmaSteps steps;
  for (int step = 0; step < MmaSteps::kCount; ++step) {
    Floats<kPerWord> a, b;
    for (int i = 0; i < kLanes; ++i) {
      // Neighbours cancel, but for what is to be added: by two vectors, which k is.
      b.lane[i % kPerWord] = (i + step) % 2 == 0 ? 1 : -1;
      a.lane[i % kPerWord] = kMagnitudes[(i / 2 + step) % 4];
      if (i == 0) a.lane[0] += b.lane[0] * kAdded[step] / 2;
      steps.a[step].word[i / kPerWord] = DtypeTraits<T>::pack(a);
      steps.b[step].word[i / kPerWord] = DtypeTraits<T>::pack(b);
    }
  }
  return steps;
}

/// A block an SM, a tile each: 64 x 256 sums in its registers, and nothing but `turns` of the steps
/// between filling shared memory and storing the sums.
template <Dtype T>
__global__ void __launch_bounds__(kTileThreads, 1)
    mma_kernel(MmaSteps steps, float* out, std::int64_t turns) {
  __shared__ Vector a[MmaSteps::kCount][kTileVectorsA], b[MmaSteps::kCount][kTileVectorsB];
  for (int step = 0; step < MmaSteps::kCount; ++step) {
    for (int i = 0; i < kTileVectorsA; i += kTileThreads) a[step][i + threadIdx.x] = steps.a[step];
    for (int i = 0; i < kTileVectorsB; i += kTileThreads) b[step][i + threadIdx.x] = steps.b[step];
  }
  publish_tile_operands();
  __syncthreads();

  float sums[kTileSums] = {};
  for (std::int64_t turn = 0; turn < turns; ++turn) {
    begin_tiles();
    for (int step = 0; step < MmaSteps::kCount; ++step) multiply_tile<T>(sums, a[step], b[step]);
    commit_tiles();
  }
  finish_tiles();
  out += std::int64_t{blockIdx.x} * kTileThreads * kTileSums + threadIdx.x;
  for (std::int64_t i = 0; i < kTileSums; ++i) out[i * kTileThreads] = sums[i];
}

/// Enqueues out[n] = m / 4, by m steps. Throws as launch() of the table says.
template <Dtype T>
void launch_mma(const Operands& x, const Queue& queue) {
  constexpr std::int64_t kTile = std::int64_t{kTileThreads} * kTileSums, kDepth = 32 / sizeof(T);
  constexpr std::int64_t kMostSteps = 8192;
  check_fits("mma", "m", x.m, x.m >= 0 && x.m <= kMostSteps && x.m % MmaSteps::kCount == 0,
             "a multiple of " + std::to_string(MmaSteps::kCount) + " from 0 to " +
                 std::to_string(kMostSteps));
  check_fits("mma", "n", x.n, x.n >= 0 && x.n <= kTile * kMaxBlocks && x.n % kTile == 0,
             "a multiple of " + std::to_string(kTile));
  check_fits("mma", "k", x.k, x.k == kDepth, std::to_string(kDepth));
  check_aligned("mma", {"out", x.out, x.n * std::int64_t{sizeof(float)}});
  if (x.n == 0) return;
  const LaunchConfig config{static_cast<unsigned>(x.n / kTile), kTileThreads, queue.stream};
  launch(config, mma_kernel<T>, mma_steps<T>(), static_cast<float*>(x.out), x.m / MmaSteps::kCount);
}

}  // namespace kernels
