// What measures the roofs of memory and of the vector pipe. With what else is small: a file of its
// own compiles for 8 s.
#include <span>

#include "kernels/clock.cuh"
#include "kernels/cuda_table.h"
#include "kernels/fill.cuh"
#include "kernels/peak.cuh"
#include "kernels/stream.cuh"

namespace kernels {
namespace {

// The first of each is a guess, see tuned.h. Copy and write have one kernel a policy for all
// dtypes, or small ones, and so more.
constexpr Policy kCopyPolicies[] = {
    {.name = "t256v4", .threads = 256, .vectors = 4},
    {.name = "t256v8", .threads = 256, .vectors = 8},
    {.name = "t256v2", .threads = 256, .vectors = 2},
    {.name = "t256v1", .threads = 256, .vectors = 1},
    {.name = "t128v1", .threads = 128, .vectors = 1},
    {.name = "t256v4g8", .threads = 256, .vectors = 4, .blocks_per_processor = 8},
    {.name = "t128v1-loads-once", .threads = 128, .vectors = 1, .caching = Caching::loads_once},
    {.name = "t128v1-once", .threads = 128, .vectors = 1, .caching = Caching::once},
    {.name = "t512v4-once", .threads = 512, .vectors = 4, .caching = Caching::once},
};
// Those without hints.
constexpr auto kWritePolicies = std::span(kCopyPolicies).first<6>();
constexpr Policy kTriadPolicies[] = {
    {.name = "t256v2", .threads = 256, .vectors = 2},
    {.name = "t256v4", .threads = 256, .vectors = 4},
    {.name = "t256v1", .threads = 256, .vectors = 1},
    {.name = "t128v1", .threads = 128, .vectors = 1},
};
// A read ends in one partial a block.
constexpr Policy kReadPolicies[] = {
    {.name = "t256v4g8", .threads = 256, .vectors = 4, .blocks_per_processor = 8},
    {.name = "t256v8g8", .threads = 256, .vectors = 8, .blocks_per_processor = 8},
    {.name = "t512v4g4", .threads = 512, .vectors = 4, .blocks_per_processor = 4},
    {.name = "t512v4g128", .threads = 512, .vectors = 4, .blocks_per_processor = 128},
    {.name = "t256v8g128", .threads = 256, .vectors = 8, .blocks_per_processor = 128},
    {.name = "t256v4", .threads = 256, .vectors = 4},
    {.name = "t512v4g4-once",
     .threads = 512,
     .vectors = 4,
     .blocks_per_processor = 4,
     .caching = Caching::once},
};
// Untuned: 16 or 8 chains a thread.
constexpr Policy kPeakPolicies[] = {
    {.name = "t256v4", .threads = 256, .vectors = 4},
    {.name = "t256v2", .threads = 256, .vectors = 2},
};
constexpr Policy kEmptyPolicies[] = {{.name = "t32", .threads = 32, .vectors = 1}};

template <Dtype T>
constexpr std::int64_t bytes_of(std::int64_t n) {
  return n * std::int64_t{sizeof(T)};
}

template <Dtype T>
constexpr Kernel read() {
  return {"read", DtypeTraits<T>::kName, kReadPolicies,
          [](const Operands& x, const Policy& policy, const Queue& queue) {
            return read_grid(bytes_of<T>(x.n), policy, queue).blocks * sizeof(Word);
          },
          [](const Operands& x, const Policy& policy, const Queue& queue) {
            check_count("read", "n", x.n);
            launch_read<kReadPolicies>(x, bytes_of<T>(x.n), policy, queue);
          }};
}

template <Dtype T>
constexpr Kernel copy() {
  return {"copy", DtypeTraits<T>::kName, kCopyPolicies, no_workspace,
          [](const Operands& x, const Policy& policy, const Queue& queue) {
            check_count("copy", "n", x.n);
            launch_elementwise<Copy, kCopyPolicies>(Copy(), x, bytes_of<T>(x.n), policy, queue);
          }};
}

template <Dtype T>
constexpr Kernel write() {
  return {"write", DtypeTraits<T>::kName, kWritePolicies, no_workspace,
          [](const Operands& x, const Policy& policy, const Queue& queue) {
            launch_elementwise<Write<T>, kWritePolicies>(Write<T>(), x, x.n, policy, queue);
          }};
}

template <Dtype T>
constexpr Kernel triad() {
  return {"triad", DtypeTraits<T>::kName, kTriadPolicies, no_workspace,
          [](const Operands& x, const Policy& policy, const Queue& queue) {
            launch_elementwise<Triad<T>, kTriadPolicies>(Triad<T>(), x, x.n, policy, queue);
          }};
}

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

constexpr Kernel kRoofs[] = {
    read<float>(),
    read<__half>(),
    read<__nv_bfloat16>(),
    read<__nv_fp8_e4m3>(),
    read<__nv_fp8_e5m2>(),
    copy<float>(),
    copy<__half>(),
    copy<__nv_bfloat16>(),
    copy<__nv_fp8_e4m3>(),
    copy<__nv_fp8_e5m2>(),
    write<float>(),
    write<__half>(),
    write<__nv_bfloat16>(),
    write<__nv_fp8_e4m3>(),
    write<__nv_fp8_e5m2>(),
    triad<float>(),
    triad<__half>(),
    triad<__nv_bfloat16>(),
    triad<__nv_fp8_e4m3>(),
    triad<__nv_fp8_e5m2>(),
    fma<float, float>(),
    fma<__half, __half2>(),
    fma<__nv_bfloat16, __nv_bfloat162>(),
    {"empty", "fp32", kEmptyPolicies, no_workspace,
     [](const Operands&, const Policy& policy, const Queue& queue) {
       launch(grid_for(1, 1, policy, queue), empty_kernel);
     }},
};

}  // namespace

std::span<const Kernel> roof_kernels() { return kRoofs; }

void cuda_fill(void* data, const char* dtype, InputKind kind, std::uint64_t seed, std::int64_t n,
               const Queue& queue) {
  with_dtype(dtype, [&]<typename T>() { launch_fill<T>(data, kind, seed, n, queue); });
}

void launch_clock_stamp(ClockStamp* stamp, const Queue& queue) {
  // Two blocks an SM, so that one of them meets SM 0 wherever the first ones go.
  const LaunchConfig config{static_cast<unsigned>(2 * queue.processors), 1, queue.stream};
  launch(config, clock_stamp_kernel, stamp);
}

}  // namespace kernels
