// The one kernel of all elementwise ops: out[i] = op(a[i], b[i]). An op is a functor over the words
// of its inputs; most lift a function of floats with map(). Nothing here changes for a new one.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/dtype.cuh"
#include "kernels/ptx.cuh"
#include "kernels/tiles.cuh"

namespace kernels {

/// kInputs: the 0, 1 or 2 words that operator() takes. Element: what n counts; an op gives an
/// element the same result wherever in a word it lies.
template <typename Op>
concept ElementwiseOp = Op::kInputs >= 0 && Op::kInputs <= 2 && Op::kName != nullptr &&
                        sizeof(typename Op::Element) <= sizeof(Word);

/// Lifts f, a function of floats, to the T's of a word.
template <Dtype T, typename F, typename... Words>
__host__ __device__ Word map(F f, Words... words) {
  Floats<kLanesPerWord<T>> out;
  for (int j = 0; j < kLanesPerWord<T>; ++j) {
    out.lane[j] = f(DtypeTraits<T>::unpack(words).lane[j]...);
  }
  return DtypeTraits<T>::pack(out);
}

/// a = op(a, b), word by word. An op that wants its words side by side, as independent chains of
/// arithmetic, overloads this.
template <typename Op, int kWords>
__host__ __device__ void apply(const Op& op, Word (&a)[kWords], const Word (&b)[kWords]) {
  for (int j = 0; j < kWords; ++j) {
    if constexpr (Op::kInputs == 0) a[j] = op();
    if constexpr (Op::kInputs == 1) a[j] = op(a[j]);
    if constexpr (Op::kInputs == 2) a[j] = op(a[j], b[j]);
  }
}

template <ElementwiseOp Op, int kVectors, Caching kCaching>
__global__ void __launch_bounds__(kMaxThreads, kMinBlocksPerSm)
    elementwise_kernel(Op op, const void* a, const void* b, void* out, std::int64_t n) {
  constexpr int kLanes = sizeof(Vector) / sizeof(typename Op::Element);
  const std::int64_t vectors = n / kLanes;
  for_tiles<kVectors>(vectors, [=]<int kCount>(std::int64_t first) {
    Word x[4 * kCount] = {}, y[4 * kCount] = {};
    if constexpr (Op::kInputs >= 1) load<kCaching>(a, first, x);
    if constexpr (Op::kInputs == 2) load<kCaching>(b, first, y);
    if constexpr (Op::kInputs == 1) finish_issuing_loads();  // with two, ptxas does; and spills
    apply(op, x, y);
    store<kCaching>(x, out, first);
  });
  const std::int64_t i = vectors * kLanes + threadIdx.x;  // the tail: the first block's
  if (blockIdx.x == 0 && i < n) {
    constexpr std::size_t kSize = sizeof(typename Op::Element);
    Word x[1] = {}, y[1] = {};
    if constexpr (Op::kInputs >= 1) std::memcpy(x, static_cast<const char*>(a) + i * kSize, kSize);
    if constexpr (Op::kInputs == 2) std::memcpy(y, static_cast<const char*>(b) + i * kSize, kSize);
    apply(op, x, y);
    std::memcpy(static_cast<char*>(out) + i * kSize, x, kSize);
  }
}

/// Enqueues out = op(a, b). a, b, out: arrays of n Elements, 16-byte aligned, not overlapping.
template <ElementwiseOp Op, const auto& kPolicies>
void launch_elementwise(const Op& op, const Operands& x, std::int64_t n, const Policy& policy,
                        const Queue& queue) {
  constexpr int kLanes = sizeof(Vector) / sizeof(typename Op::Element);
  const std::int64_t bytes = n * std::int64_t{sizeof(typename Op::Element)};
  const Range a{"a", x.a, Op::kInputs >= 1 ? bytes : 0}, b{"b", x.b, Op::kInputs == 2 ? bytes : 0};
  const Range out{"out", x.out, bytes};
  check_count(Op::kName, "n", n);
  for (const Range& range : {a, b, out}) check_aligned(Op::kName, range);
  check_apart(Op::kName, out, {a, b});
  check_policy(Op::kName, policy);
  if (n == 0) return;
  const LaunchConfig config = grid_for(n / kLanes, policy.vectors, policy, queue);
  with_form<kPolicies>(Op::kName, policy, [&]<int kVectors, Caching kCaching>() {
    launch(config, elementwise_kernel<Op, kVectors, kCaching>, op, x.a, x.b, x.out, n);
  });
}

}  // namespace kernels
