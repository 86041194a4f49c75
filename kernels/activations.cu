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
};

// One kernel a type: the erf form stands beside the other for comparison, and is the most expensive
// to compile of all.
constexpr Policy kErfPolicies[] = {kActivationPolicies[0], kActivationPolicies[5],
                                   kActivationPolicies[6]};

template <ElementwiseOp Op, int... kVectors>
constexpr Kernel activation(std::span<const Policy> policies = kActivationPolicies) {
  return {Op::kName, DtypeTraits<typename Op::Element>::kName, policies, no_workspace,
          [](const Operands& x, const Policy& policy, const Queue& queue) {
            launch_elementwise<Op, kVectors...>(Op(), x, x.n, policy, queue);
          }};
}

constexpr Kernel kActivations[] = {
    activation<Relu<float>, 1, 2, 4>(),
    activation<Relu<__half>, 1, 2, 4>(),
    activation<Relu<__nv_bfloat16>, 1, 2, 4>(),
    activation<Relu<__nv_fp8_e4m3>, 1, 2, 4>(),
    activation<Relu<__nv_fp8_e5m2>, 1, 2, 4>(),
    activation<Gelu<float>, 1, 2, 4>(),
    activation<Gelu<__half>, 1, 2, 4>(),
    activation<Gelu<__nv_bfloat16>, 1, 2, 4>(),
    activation<Gelu<__nv_fp8_e4m3>, 1, 2, 4>(),
    activation<Gelu<__nv_fp8_e5m2>, 1, 2, 4>(),
    activation<GeluErf<float>, 4>(kErfPolicies),
    activation<GeluErf<__half>, 4>(kErfPolicies),
    activation<GeluErf<__nv_bfloat16>, 4>(kErfPolicies),
    activation<GeluErf<__nv_fp8_e4m3>, 4>(kErfPolicies),
    activation<GeluErf<__nv_fp8_e5m2>, 4>(kErfPolicies),
};

}  // namespace

std::span<const Kernel> activation_kernels() { return kActivations; }

}  // namespace kernels
