#include "kernels/cuda_table.h"

#include <vector>

namespace kernels {

std::span<const Kernel> cuda_kernels() {
  static const std::vector<Kernel> kAll = [] {
    std::vector<Kernel> all;
    for (const auto& rows :
         {activation_kernels(), roof_kernels(), product_kernels(), mma_kernels()}) {
      all.insert(all.end(), rows.begin(), rows.end());
    }
    return all;
  }();
  return kAll;
}

}  // namespace kernels
