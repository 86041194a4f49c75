#include <algorithm>
#include <array>

#include "kernels/cuda_table.h"
#include "kernels/dot.cuh"
#include "kernels/gemv.cuh"

namespace kernels {
namespace {

// The first of each is a guess, see tuned.h. A grid of as many blocks as fit, so that the partials
// are few, or of several times as many, so that no SM waits for another.
constexpr Policy kDotPolicies[] = {
    {.name = "t256v4g4-once",
     .threads = 256,
     .vectors = 4,
     .blocks_per_processor = 4,
     .caching = Caching::once},
    {.name = "t512v4g2-once",
     .threads = 512,
     .vectors = 4,
     .blocks_per_processor = 2,
     .caching = Caching::once},
    {.name = "t512v4g32-once",
     .threads = 512,
     .vectors = 4,
     .blocks_per_processor = 32,
     .caching = Caching::once},
    {.name = "t256v2g8-once",
     .threads = 256,
     .vectors = 2,
     .blocks_per_processor = 8,
     .caching = Caching::once},
    {.name = "t512v4g2", .threads = 512, .vectors = 4, .blocks_per_processor = 2},
};

// Few rows want many threads a row, and blocks that share them, see suited_to_gemv(); many rows
// few.
constexpr Policy kGemvPolicies[] = {
    {.name = "t128r2", .threads = 128, .vectors = 2},
    {.name = "t256r1", .threads = 256, .vectors = 1},
    {.name = "t128r1", .threads = 128, .vectors = 1},
    {.name = "t256r2", .threads = 256, .vectors = 2},
    {.name = "t64r2", .threads = 64, .vectors = 2},
    {.name = "t128r4", .threads = 128, .vectors = 4},
    {.name = "t128r2s2", .threads = 128, .vectors = 2, .splits = 2},
    {.name = "t128r2s4", .threads = 128, .vectors = 2, .splits = 4},
    {.name = "t128r2s8", .threads = 128, .vectors = 2, .splits = 8},
    {.name = "t128r2s16", .threads = 128, .vectors = 2, .splits = 16},
    {.name = "t128r2s32", .threads = 128, .vectors = 2, .splits = 32},
    {.name = "t128r2s64", .threads = 128, .vectors = 2, .splits = kMaxSplits},
    {.name = "t256r1s8", .threads = 256, .vectors = 1, .splits = 8},
};

constexpr bool has_several_rows(const Policy& policy) { return policy.vectors > 1; }

// FP8 has no instructions to spare for an x that is converted for each row alone: 4.5 a
// multiply-add, of which its budget has 4; with two rows a block 3.8.
constexpr auto kFp8GemvPolicies = [] {
  std::array<Policy, std::ranges::count_if(kGemvPolicies, has_several_rows)> several;
  std::ranges::copy_if(kGemvPolicies, several.begin(), has_several_rows);
  return several;
}();

template <Dtype T>
constexpr Kernel dot() {
  return {"dot", DtypeTraits<T>::kName, kDotPolicies,
          [](const Operands& x, const Policy& policy, const Queue& queue) {
            return dot_grid<T>(x.n, policy, queue).blocks * sizeof(float);
          },
          launch_dot<T, kDotPolicies>};
}

/// The first policy, with the splits that fill the SMs.
template <Dtype T, const auto& kPolicies>
const Policy& suited_to_gemv(const Operands& x, const Queue& queue) {
  const Policy& whole = kPolicies[0];
  const int splits = default_gemv_splits<T>(x, whole, queue);
  return *std::ranges::find_if(kPolicies, [&](const Policy& p) {
    return p.threads == whole.threads && p.vectors == whole.vectors && p.splits == splits;
  });
}

template <Dtype T, const auto& kPolicies = kGemvPolicies>
constexpr Kernel gemv() {
  return {"gemv",
          DtypeTraits<T>::kName,
          kPolicies,
          gemv_workspace_bytes,
          launch_gemv<T, kPolicies>,
          nullptr,
          suited_to_gemv<T, kPolicies>};
}

constexpr Kernel kProducts[] = {
    dot<float>(),
    dot<__half>(),
    dot<__nv_bfloat16>(),
    dot<__nv_fp8_e4m3>(),
    dot<__nv_fp8_e5m2>(),
    gemv<float>(),
    gemv<__half>(),
    gemv<__nv_bfloat16>(),
    gemv<__nv_fp8_e4m3, kFp8GemvPolicies>(),
    gemv<__nv_fp8_e5m2, kFp8GemvPolicies>(),
};

}  // namespace

std::span<const Kernel> product_kernels() { return kProducts; }

}  // namespace kernels
