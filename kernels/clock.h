// The clock of the SMs, from counters on the device.
#pragma once

#include <cstdint>

#include "kernels/table.h"

namespace kernels {

/// One moment on both clocks. Between two of them an SM ran at cycles / nanoseconds GHz on average.
struct ClockStamp {
  std::uint64_t cycles;       // of SM 0
  std::uint64_t nanoseconds;  // of the GPU; in steps of up to 1 us
};

/// Enqueues the writing of `stamp`, which is in device memory.
void launch_clock_stamp(ClockStamp* stamp, const Queue& queue);

}  // namespace kernels
