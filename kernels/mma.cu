// A file of its own, for it is compiled for sm_90a where the others are for sm_90.
#include <string>

#include "kernels/cuda_table.h"
#include "kernels/mma.cuh"

namespace kernels {
namespace {

constexpr Policy kMmaPolicies[] = {{.name = "t128", .threads = kTileThreads, .vectors = 1}};

std::string version(int compute_capability) {
  return std::to_string(compute_capability / 10) + "." + std::to_string(compute_capability % 10);
}

/// kSince: the compute capability whose tensor cores were the first to multiply T.
template <Dtype T, int kSince>
constexpr Kernel mma() {
  return {"mma",
          DtypeTraits<T>::kName,
          kMmaPolicies,
          no_workspace,
          [](const Operands& x, const Policy&, const Queue& queue) { launch_mma<T>(x, queue); },
          [](int capability) -> std::string {
            if (capability < kSince) {
              return "tensor cores multiply " + std::string(DtypeTraits<T>::kName) +
                     " from compute capability " + version(kSince) + " on; this GPU has " +
                     version(capability);
            }
            if (capability >= 100 && capability < 120) {
              return "no kernel for the tensor cores of compute capability " + version(capability) +
                     ", whose peak takes tcgen05";
            }
            return "";
          }};
}

constexpr Kernel kMma[] = {
    mma<Tf32, 80>(),          mma<__half, 75>(),        mma<__nv_bfloat16, 80>(),
    mma<__nv_fp8_e4m3, 89>(), mma<__nv_fp8_e5m2, 89>(),
};

}  // namespace

std::span<const Kernel> mma_kernels() { return kMma; }

}  // namespace kernels
