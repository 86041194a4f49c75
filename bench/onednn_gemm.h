// Which oneDNN computes the GEMMs of the cpu.
#pragma once

#include <string>

namespace bench {

/// "3.1.0", of the library that is loaded.
std::string onednn_version();

}  // namespace bench
