#include <algorithm>
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

bool takes_part(const Implementation& implementation, std::span<const std::string> only,
                roofline::Op op, const Device& device) {
  const bool named = std::find(only.begin(), only.end(), implementation.name) != only.end();
  return (named || (only.empty() && !implementation.peer)) &&
         (implementation.backend.empty() || implementation.backend == device.facts().backend) &&
         implementation.offers(op, device);
}

}  // namespace bench
