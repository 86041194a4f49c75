// The GPU, or in a build without CUDA the reason that there is none.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "bench/device.h"

namespace bench {

/// Why `auto` measures the cpu: there is no NVIDIA driver. Nothing where one is, whether its GPUs
/// work or not, and this build has CUDA or not: a broken node must not pass as a slow one.
std::optional<std::string> why_not_cuda();

}  // namespace bench
