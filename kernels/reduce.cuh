// Sums over a block in one fixed order: the same block gives the same bits.
#pragma once

#include "kernels/launch.cuh"

namespace kernels {

template <typename Value, typename Combine>
__device__ Value warp_reduce(Value value, Combine combine) {
  for (int distance = 16; distance > 0; distance /= 2) {
    value = combine(value, __shfl_down_sync(0xffffffffU, value, distance));
  }
  return value;
}

/// The values of all threads combined, in thread 0. Every thread of the block must call it, the
/// block is whole warps, and Value{} is neutral in `combine`.
template <typename Value, typename Combine>
__device__ Value block_reduce(Value value, Combine combine) {
  __shared__ Value of_warp[32];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  value = warp_reduce(value, combine);
  if (lane == 0) of_warp[warp] = value;
  __syncthreads();
  if (warp == 0) value = warp_reduce(lane < blockDim.x / 32 ? of_warp[lane] : Value{}, combine);
  __syncthreads();  // of_warp may be written again
  return value;
}

}  // namespace kernels
