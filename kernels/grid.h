// How a launch is cut into blocks: host arithmetic, 64-bit, tested without a GPU.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/table.h"

namespace kernels {

/// A one-dimensional grid of one-dimensional blocks.
struct LaunchConfig {
  unsigned blocks;
  unsigned threads;
  void* stream;
};

/// What kernels are compiled for: up to 64 registers a thread. Unasked, ptxas 13.0 stays at 32 and
/// for that sinks half of the loads of a dot or a GeLU below their first use (sm_90, in the SASS);
/// 1024 threads of 4 loads each still keep 64 KiB of an SM in flight.
inline constexpr int kMaxThreads = 512, kMinBlocksPerSm = 2;

inline constexpr std::int64_t kMaxBlocks = 0x7fffffff;  // CUDA's limit on gridDim.x

/// The grid that covers `items` at `items_per_thread`, of one block at least. All kernels stride
/// over their grid, so one that is capped (by kMaxBlocks, or by the policy's blocks per processor)
/// still covers everything.
constexpr LaunchConfig grid_for(std::int64_t items, std::int64_t items_per_thread,
                                const Policy& policy, const Queue& queue) {
  const std::int64_t per_block = items_per_thread * policy.threads;
  const std::int64_t covering = items / per_block + (items % per_block != 0);
  const std::int64_t most = policy.blocks_per_processor == 0
                                ? kMaxBlocks
                                : std::int64_t{policy.blocks_per_processor} * queue.processors;
  return {static_cast<unsigned>(std::clamp<std::int64_t>(covering, 1, std::min(most, kMaxBlocks))),
          static_cast<unsigned>(policy.threads), queue.stream};
}

/// Blocks of the policy that all SMs hold at once, as __launch_bounds__ promises.
constexpr std::int64_t resident_blocks(const Policy& policy, const Queue& queue) {
  return std::int64_t{kMinBlocksPerSm} * kMaxThreads / policy.threads * queue.processors;
}

inline constexpr int kMaxSplits = 64;  // of gemv's policies

/// How many blocks share the columns of a gemv's rows, of which `blocks` would take them whole.
/// One, where these fill the SMs, for splits cost a second launch. Else as many, a power of two, as
/// fill them twice, so that the last to end leave little idle; but each keeps one of the `turns`
/// along a row in which its threads have all their loads in flight. Untuned.
constexpr int gemv_splits(std::int64_t blocks, std::int64_t turns, std::int64_t resident) {
  if (blocks >= resident) return 1;
  int splits = 1;
  while (splits < kMaxSplits && splits <= turns / 2 && blocks * splits < 2 * resident) splits *= 2;
  return splits;
}

}  // namespace kernels
