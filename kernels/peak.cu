#include "kernels/clock.cuh"
#include "kernels/cuda_table.h"
#include "kernels/peak.cuh"

namespace kernels {
namespace {

// Untuned: 16 or 8 chains a thread.
constexpr Policy kPeakPolicies[] = {
    {.name = "t256v4", .threads = 256, .vectors = 4},
    {.name = "t256v2", .threads = 256, .vectors = 2},
};

template <typename T, typename Packed>
constexpr Kernel fma() {
  return {"fma", DtypeTraits<T>::kName, kPeakPolicies, no_workspace,
          [](const Operands& x, const Policy& policy, const Queue& queue) {
            check_count("fma", "m", x.m);
            const auto both = [](float value) {
              Floats<kLanesPerWord<T>> lanes;
              for (float& lane : lanes.lane) lane = value;
              return same_bits<Packed>(DtypeTraits<T>::pack(lanes));
            };
            const Fma<T, Packed> op{x.m, both(-1.0F), both(1.0F)};
            launch_elementwise<Fma<T, Packed>, kPeakPolicies>(op, x, x.n, policy, queue);
          }};
}

constexpr Kernel kPeaks[] = {
    fma<float, float>(),
    fma<__half, __half2>(),
    fma<__nv_bfloat16, __nv_bfloat162>(),
};

}  // namespace

std::span<const Kernel> peak_kernels() { return kPeaks; }

// Here, as the clock is what a peak is measured at, and a file of its own compiles for 8 s.
void launch_clock_stamp(ClockStamp* stamp, const Queue& queue) {
  // Two blocks an SM, so that one of them meets SM 0 wherever the first ones go.
  const LaunchConfig config{static_cast<unsigned>(2 * queue.processors), 1, queue.stream};
  launch(config, clock_stamp_kernel, stamp);
}

}  // namespace kernels
