// The GPU, or in a build without CUDA the reason that there is none.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "bench/device.h"

namespace bench {

/// Why `auto` measures the cpu: no CUDA in this build, no NVIDIA driver, or no GPU made visible.
/// Nothing where a driver is there, whether its GPUs work or not: a broken node must not pass as a
/// slow one.
std::optional<std::string> why_not_cuda();

}  // namespace bench
