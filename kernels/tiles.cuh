// How the threads of a grid walk over memory: in tiles, 16 bytes an access, several in flight.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

#include "kernels/checks.h"
#include "kernels/launch.cuh"
#include "kernels/ptx.cuh"

namespace kernels {

using Word = std::uint32_t;

/// What one 16-byte access carries. The alignas is what lets nvcc emit one 128-bit load for the
/// whole struct; without it each word loads alone.
struct alignas(16) Vector {
  Word word[4];
};

/// Walks over `vectors` Vectors in tiles of blockDim.x * kVectors, striding over the grid. A thread
/// gets f<kVectors>(i) for its Vectors i, i + blockDim.x ... of a whole tile, f<1>(i) for each it
/// has of the last, ragged one.
template <int kVectors, typename F>
__device__ void for_tiles(std::int64_t vectors, F f) {
  const std::int64_t step = blockDim.x, tile = step * kVectors;
  for (std::int64_t i = blockIdx.x * tile + threadIdx.x; i < vectors; i += gridDim.x * tile) {
    if (i + (kVectors - 1) * step < vectors) {
      f.template operator()<kVectors>(i);
    } else {
      for (std::int64_t k = i; k < vectors; k += step) f.template operator()<1>(k);
    }
  }
}

/// The Vectors `first`, first + blockDim.x ... of `from`: neighbouring threads read neighbours. No
/// __restrict__ on what a kernel loads: with it ptxas 13.0 sinks loads below stores, and 8 in the
/// PTX were 4 in the SASS.
template <Caching kCaching, int kWords>
__device__ void load(const void* from, std::int64_t first, Word (&to)[kWords]) {
  for (int j = 0; j < kWords / 4; ++j) {
    const Vector* at = static_cast<const Vector*>(from) + first + j * std::int64_t{blockDim.x};
    if constexpr (kCaching == Caching::usual) {
      const Vector v = *at;
      for (int k = 0; k < 4; ++k) to[4 * j + k] = v.word[k];
    } else {
      load_once(at, &to[4 * j]);
    }
  }
}

template <Caching kCaching, int kWords>
__device__ void store(const Word (&from)[kWords], void* to, std::int64_t first) {
  for (int j = 0; j < kWords / 4; ++j) {
    Vector* at = static_cast<Vector*>(to) + first + j * std::int64_t{blockDim.x};
    if constexpr (kCaching == Caching::once) {
      store_once(&from[4 * j], at);
    } else {
      *at = {{from[4 * j], from[4 * j + 1], from[4 * j + 2], from[4 * j + 3]}};
    }
  }
}

/// Calls f<vectors, caching>() of the policy, which has both in common with one of kPolicies: what
/// these name is what is compiled. Throws std::invalid_argument else.
template <const auto& kPolicies, typename F>
void with_form(const char* op, const Policy& policy, F f) {
  const bool known = [&]<std::size_t... kAt>(std::index_sequence<kAt...>) {
    return ((policy.vectors == kPolicies[kAt].vectors && policy.caching == kPolicies[kAt].caching &&
             (f.template operator()<kPolicies[kAt].vectors, kPolicies[kAt].caching>(), true)) ||
            ...);
  }
  (std::make_index_sequence<std::size(kPolicies)>());
  if (!known) refuse_form(op, policy);
}

}  // namespace kernels
