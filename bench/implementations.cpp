#include <algorithm>
#include <vector>

#include "bench/implementation.h"

namespace bench {

std::span<const Implementation> implementations() {
  static const std::vector<Implementation> kAll = {
      kOurs,
#ifdef ROOFLINE_HAS_CUDA
      kCublasLt,
#endif
#ifdef ROOFLINE_HAS_ONEDNN
      kOneDnn,
#endif
  };
  return kAll;
}

bool takes_part(const Implementation& implementation, std::span<const std::string> only,
                roofline::Op op, const Device& device) {
  return (only.empty() || std::find(only.begin(), only.end(), implementation.name) != only.end()) &&
         (implementation.backend.empty() || implementation.backend == device.facts().backend) &&
         implementation.offers(op, device);
}

}  // namespace bench
