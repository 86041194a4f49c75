// The tiles that a library's algorithm cuts the output of a GEMM into, and how many waves of them
// a device runs. The writer of a row's note and its reader stand together.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "roofline/case.h"

namespace roofline {

/// One block computes `along_n` x `along_m` outputs, over a `split_k`th of K. cuBLASLt counts
/// columns of Y first, for its matrices are our transposes: its tile 128x256 spans 128 of N and
/// 256 of M.
struct Tiling {
  std::int64_t along_n, along_m, split_k = 1;

  bool operator==(const Tiling&) const = default;
};

/// "tile 128x256, split-K 1", for a row's note.
std::string to_text(const Tiling& tiling);

/// The tiling that a note names; nothing where it names none.
std::optional<Tiling> tiling_in(std::string_view note);

/// Tiles over processors: 0.73 leaves a quarter of them idle, 1.05 takes as long as 2.
double waves(const Case& c, const Tiling& tiling, std::int64_t processors);

}  // namespace roofline
