// What another run found fastest, looked up for a case like it.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "roofline/record.h"

namespace bench {

/// Which of `variants` the fastest ok row is of that is like `row`: same op, types, layout,
/// implementation and cache, each size within the same power of two. Rows of different size are
/// compared by their rate.
std::optional<std::string> tuned_variant(std::span<const roofline::Record> tuning,
                                         const roofline::Record& row,
                                         std::span<const std::string> variants);

}  // namespace bench
