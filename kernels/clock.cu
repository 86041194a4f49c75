#include "kernels/clock.h"
#include "kernels/launch.cuh"
#include "kernels/ptx.cuh"

namespace kernels {
namespace {

/// Each SM counts its own cycles, so that only stamps of the same SM can be compared.
__global__ void clock_stamp_kernel(ClockStamp* stamp) {
  if (sm_id() == 0) {
    stamp->cycles = sm_cycles();
    stamp->nanoseconds = global_nanoseconds();
  }
}

}  // namespace

void launch_clock_stamp(ClockStamp* stamp, const Queue& queue) {
  // Two blocks an SM, so that one of them meets SM 0 wherever the first ones go.
  const LaunchConfig config{static_cast<unsigned>(2 * queue.processors), 1, queue.stream};
  launch(config, clock_stamp_kernel, stamp);
}

}  // namespace kernels
