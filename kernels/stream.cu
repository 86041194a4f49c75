#include "kernels/cuda_table.h"
#include "kernels/fill.cuh"
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
constexpr Policy kWritePolicies[] = {
    {.name = "t256v4", .threads = 256, .vectors = 4},
    {.name = "t256v8", .threads = 256, .vectors = 8},
    {.name = "t256v2", .threads = 256, .vectors = 2},
    {.name = "t256v1", .threads = 256, .vectors = 1},
    {.name = "t128v1", .threads = 128, .vectors = 1},
    {.name = "t256v4g8", .threads = 256, .vectors = 4, .blocks_per_processor = 8},
};
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

constexpr Kernel kStreams[] = {
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
    {"empty", "fp32", kEmptyPolicies, no_workspace,
     [](const Operands&, const Policy& policy, const Queue& queue) {
       launch(grid_for(1, 1, policy, queue), empty_kernel);
     }},
};

}  // namespace

std::span<const Kernel> stream_kernels() { return kStreams; }

void cuda_fill(void* data, const char* dtype, InputKind kind, std::uint64_t seed, std::int64_t n,
               const Queue& queue) {
  with_dtype(dtype, [&]<typename T>() { launch_fill<T>(data, kind, seed, n, queue); });
}

}  // namespace kernels
