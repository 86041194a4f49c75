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

}  // namespace bench
