#include <algorithm>
#include <utility>
#include <vector>

#include "bench/implementation.h"

namespace bench {

std::span<const Implementation> implementations() {
  static const std::vector<Implementation> kAll = {
      kOurs,     kTransfer,
#ifdef ROOFLINE_HAS_CUDA
      kCublasLt, kCublasLtGemv, kCublas, kCudart,
#endif
#ifdef ROOFLINE_HAS_CUB
      kCub,
#endif
#ifdef ROOFLINE_HAS_ONEDNN
      kOneDnn,
#endif
#ifdef ROOFLINE_HAS_OPENBLAS
      kOpenBlas,
#endif
  };
  return kAll;
}

std::optional<std::string_view> cure_without(std::string_view name) {
  constexpr std::string_view kCuda = "-DROOFLINE_CUDA=ON, and the CUDA toolkit";
  constexpr std::pair<std::string_view, std::string_view> kCures[] = {
      {names::kCublasLt, kCuda},
      {names::kCublasLtGemv, kCuda},
      {names::kCublas, kCuda},
      {names::kCudart, kCuda},
      {names::kCub, "-DROOFLINE_CUB=ON, and the CUDA toolkit"},
      {names::kOneDnn, "oneDNN (libdnnl-dev) installed"},
      {names::kOpenBlas, "OpenBLAS (libopenblas-openmp-dev) installed"},
  };
  for (const auto& [implementation, cure] : kCures) {
    if (implementation == name) return cure;
  }
  return std::nullopt;
}

bool takes_part(const Implementation& implementation, std::span<const std::string> only,
                roofline::Op op, const Device& device) {
  const bool named = std::find(only.begin(), only.end(), implementation.name) != only.end();
  return (named || (only.empty() && !implementation.peer)) &&
         (implementation.backend.empty() || implementation.backend == device.facts().backend) &&
         implementation.offers(op, device);
}

}  // namespace bench
