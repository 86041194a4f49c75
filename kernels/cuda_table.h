// The rows that each file of kernels adds to cuda_kernels().
#pragma once

#include <cstddef>
#include <span>

#include "kernels/table.h"

namespace kernels {

std::span<const Kernel> activation_kernels();
std::span<const Kernel> roof_kernels();
std::span<const Kernel> product_kernels();
std::span<const Kernel> mma_kernels();

constexpr std::size_t no_workspace(const Operands&, const Policy&, const Queue&) { return 0; }

}  // namespace kernels
