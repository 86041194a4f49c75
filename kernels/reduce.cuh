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

/// Leaves in thread 0 the values of all threads combined, several side by side. Every thread of the
/// block must call it, the block is whole warps, and Value{} is neutral in `combine`.
template <int kCount, typename Value, typename Combine>
__device__ void block_reduce(Value (&values)[kCount], Combine combine) {
  __shared__ Value of_warp[kCount][32];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (Value& value : values) value = warp_reduce(value, combine);
  for (int i = 0; i < kCount; ++i) {
    if (lane == 0) of_warp[i][warp] = values[i];
  }
  __syncthreads();
  for (int i = 0; i < kCount; ++i) {
    if (warp == 0) {
      values[i] = warp_reduce(lane < blockDim.x / 32 ? of_warp[i][lane] : Value{}, combine);
    }
  }
  __syncthreads();  // of_warp may be written again
}

/// The same of one value.
template <typename Value, typename Combine>
__device__ Value block_reduce(Value value, Combine combine) {
  Value values[] = {value};
  block_reduce(values, combine);
  return values[0];
}

}  // namespace kernels
