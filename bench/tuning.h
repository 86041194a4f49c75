// What another run found fastest, looked up for a case like it.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "roofline/record.h"

namespace bench {

/// The variant of the fastest ok row that is like `row`: same op, types, layout, implementation and
/// cache, each size within the same power of two. Rows of different size are compared by their
/// rate.
std::optional<std::string> tuned_variant(std::span<const roofline::Record> tuning,
                                         const roofline::Record& row);

}  // namespace bench
