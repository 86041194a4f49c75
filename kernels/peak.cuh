// What the arithmetic gives: multiply-adds on registers, in fp32, and packed two at a time in
// fp16 and bf16.
#pragma once

#include <cstdint>

#include "kernels/dtype.cuh"
#include "kernels/elementwise.cuh"
#include "kernels/ptx.cuh"

namespace kernels {

/// a <- 1 - a, `steps` times: the bits keep toggling, and an even number of steps ends at a again,
/// exactly where 1 - a is. The factors are members so that they reach the kernel as arguments; with
/// constants the compiler would make an addition of the step.
template <typename T, typename Packed>
struct Fma {
  using Element = T;
  static constexpr const char* kName = "fma";
  static constexpr int kInputs = 1;
  std::int64_t steps;
  Packed minus_one, one;
};

/// The words of a thread are independent chains; a step of them all covers the latency of one.
template <typename T, typename Packed, int kWords>
__host__ __device__ void apply(const Fma<T, Packed>& op, Word (&a)[kWords],
                               const Word (&)[kWords]) {
  Packed x[kWords];
  for (int j = 0; j < kWords; ++j) x[j] = same_bits<Packed>(a[j]);
  const auto step = [&] {
    for (Packed& chain : x) chain = fma_packed(chain, op.minus_one, op.one);
  };
  constexpr int kUnrolled = 16;  // steps between two branches: the loop itself is below 1 %
  std::int64_t i = 0;
  for (; i + kUnrolled <= op.steps; i += kUnrolled) {
    for (int k = 0; k < kUnrolled; ++k) step();
  }
  for (; i < op.steps; ++i) step();
  for (int j = 0; j < kWords; ++j) a[j] = same_bits<Word>(x[j]);
}

}  // namespace kernels
