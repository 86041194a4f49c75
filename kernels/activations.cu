#include <iterator>
#include <span>

#include "kernels/activations.cuh"
#include "kernels/cuda_table.h"

namespace kernels {
namespace {

// The first is a guess for GPUs that tuned.h does not know.
constexpr Policy kActivationPolicies[] = {
    {.name = "t256v4", .threads = 256, .vectors = 4},
    {.name = "t256v2", .threads = 256, .vectors = 2},
    {.name = "t256v1", .threads = 256, .vectors = 1},
    {.name = "t128v1", .threads = 128, .vectors = 1},
    {.name = "t64v4", .threads = 64, .vectors = 4},
    {.name = "t512v4", .threads = 512, .vectors = 4},
    {.name = "t256v4g8", .threads = 256, .vectors = 4, .blocks_per_processor = 8},
    {.name = "t128v1-loads-once", .threads = 128, .vectors = 1, .caching = Caching::loads_once},
    {.name = "t128v1-once", .threads = 128, .vectors = 1, .caching = Caching::once},
    {.name = "t512v4-once", .threads = 512, .vectors = 4, .caching = Caching::once},
    {.name = "t256v8", .threads = 256, .vectors = 8},
};

// GeLU in fp32 and bf16: 8 vectors beside its arithmetic are more than 64 registers hold.
constexpr auto kUpTo4Policies =
    std::span(kActivationPolicies).first<std::size(kActivationPolicies) - 1>();

// One kernel a type: the erf form stands beside the other for comparison, and is the most expensive
// to compile of all.
constexpr Policy kErfPolicies[] = {kActivationPolicies[0], kActivationPolicies[5],
                                   kActivationPolicies[6]};

template <ElementwiseOp Op, const auto& kPolicies = kActivationPolicies>
constexpr Kernel activation() {
  return {Op::kName, DtypeTraits<typename Op::Element>::kName, kPolicies, no_workspace,
          [](const Operands& x, const Policy& policy, const Queue& queue) {
            launch_elementwise<Op, kPolicies>(Op(), x, x.n, policy, queue);
          }};
}

constexpr Kernel kActivations[] = {
    activation<Relu<float>>(),
    activation<Relu<__half>>(),
    activation<Relu<__nv_bfloat16>>(),
    activation<Relu<__nv_fp8_e4m3>>(),
    activation<Relu<__nv_fp8_e5m2>>(),
    activation<Gelu<float>, kUpTo4Policies>(),
    activation<Gelu<__half>>(),
    activation<Gelu<__nv_bfloat16>, kUpTo4Policies>(),
    activation<Gelu<__nv_fp8_e4m3>>(),
    activation<Gelu<__nv_fp8_e5m2>>(),
    activation<GeluErf<float>, kErfPolicies>(),
    activation<GeluErf<__half>, kErfPolicies>(),
    activation<GeluErf<__nv_bfloat16>, kErfPolicies>(),
    activation<GeluErf<__nv_fp8_e4m3>, kErfPolicies>(),
    activation<GeluErf<__nv_fp8_e5m2>, kErfPolicies>(),
};

}  // namespace

std::span<const Kernel> activation_kernels() { return kActivations; }

}  // namespace kernels
