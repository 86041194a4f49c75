// The kernel of clock.h.
#pragma once

#include "kernels/clock.h"
#include "kernels/launch.cuh"
#include "kernels/ptx.cuh"

namespace kernels {

/// Each SM counts its own cycles, so that only stamps of the same SM can be compared. Static: not a
/// template, in a header.
static __global__ void clock_stamp_kernel(ClockStamp* stamp) {
  if (sm_id() == 0) {
    stamp->cycles = sm_cycles();
    stamp->nanoseconds = global_nanoseconds();
  }
}

}  // namespace kernels
