#include "kernels/activations.cuh"
#include "kernels/cuda_table.h"

namespace kernels {
namespace {

// Untuned: at 40 % occupancy 4 vectors keep 51 KiB of an SM in flight, and Hopper wants 48.
constexpr Policy kActivationPolicies[] = {
    {.name = "t256v4", .threads = 256, .vectors = 4},
    {.name = "t256v2", .threads = 256, .vectors = 2},
    {.name = "t256v1", .threads = 256, .vectors = 1},
    {.name = "t256v4g8", .threads = 256, .vectors = 4, .blocks_per_processor = 8},
};

template <ElementwiseOp Op>
constexpr Kernel activation() {
  return {Op::kName, DtypeTraits<typename Op::Element>::kName, kActivationPolicies, no_workspace,
          [](const Operands& x, const Policy& policy, const Queue& queue) {
            launch_elementwise<Op, 1, 2, 4>(Op(), x, x.n, policy, queue);
          }};
}

constexpr Kernel kActivations[] = {
    activation<Relu<float>>(),
    activation<Relu<__half>>(),
    activation<Relu<__nv_bfloat16>>(),
    activation<Relu<__nv_fp8_e4m3>>(),
    activation<Relu<__nv_fp8_e5m2>>(),
    activation<Gelu<float>>(),
    activation<Gelu<__half>>(),
    activation<Gelu<__nv_bfloat16>>(),
    activation<Gelu<__nv_fp8_e4m3>>(),
    activation<Gelu<__nv_fp8_e5m2>>(),
    activation<GeluErf<float>>(),
    activation<GeluErf<__half>>(),
    activation<GeluErf<__nv_bfloat16>>(),
    activation<GeluErf<__nv_fp8_e4m3>>(),
    activation<GeluErf<__nv_fp8_e5m2>>(),
};

}  // namespace

std::span<const Kernel> activation_kernels() { return kActivations; }

}  // namespace kernels
