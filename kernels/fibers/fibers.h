// Runs CUDA kernels on a CPU, so that any host compiler compiles and tests them: a fiber a thread,
// all on one OS thread, one block after the other. It speaks the part of CUDA that our kernels use.
// What it makes visible: with ASan and UBSan, accesses out of bounds or misaligned; with TSan, a
// missing __syncthreads, as a data race; by itself, divergent barriers and exited lanes.
#pragma once

#include <vector_types.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <type_traits>

#include "kernels/grid.h"

// CUDA's own definition for a host compiler is empty. Blocks run in turn, so they can share.
#undef __shared__
#define __shared__ static
#undef __launch_bounds__
#define __launch_bounds__(...)

inline uint3 threadIdx, blockIdx;
inline dim3 blockDim, gridDim;

namespace kernels::fibers {

/// A kernel that no GPU would run to its end as written: threads that wait for each other for ever,
/// or for one that has returned. what() names one of them.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The order in which the threads of a block are resumed. A kernel must give the same in all.
enum class Order { forward, reverse, shuffled };
void set_order(Order order);

/// Runs body() as each thread of the grid and returns when all have ended. Throws Error, and
/// std::invalid_argument for a grid that a GPU would refuse.
void run(const LaunchConfig& config, const std::function<void()>& body);

/// Waits for all threads of the block that have not returned.
void barrier();

/// Waits for the lanes of `mask`, of which the caller is one, and returns what each passed.
std::array<std::uint64_t, 32> exchange(std::uint32_t mask, std::uint64_t value);

}  // namespace kernels::fibers

inline void __syncthreads() { kernels::fibers::barrier(); }

template <typename T>
T __shfl_down_sync(unsigned mask, T value, int distance) {
  static_assert(sizeof(T) <= sizeof(std::uint64_t) && std::is_trivially_copyable_v<T>);
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  const auto all = kernels::fibers::exchange(mask, bits);
  const unsigned source = threadIdx.x % 32 + static_cast<unsigned>(distance);
  if (source < 32) std::memcpy(&value, &all[source], sizeof(T));  // else its own, as on a GPU
  return value;
}

namespace kernels {

/// The form of launch.cuh's launch() that runs here and now.
template <typename... Parameters, typename... Arguments>
void launch(const LaunchConfig& config, void (*kernel)(Parameters...), Arguments... arguments) {
  fibers::run(config, [&] { kernel(arguments...); });
}

}  // namespace kernels
