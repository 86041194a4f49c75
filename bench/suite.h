// Suites: functions that return what to measure, in groups.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "roofline/case.h"
#include "roofline/roof.h"

namespace bench {

/// One case, or the few that are compared: its rows are sampled in turns, so that ratios are
/// paired.
struct Group {
  std::string name;  // "relu+gelu/bf16/134217728"; what --benchmark_filter sees
  std::vector<roofline::Case> cases;
};

/// The names that --suite takes.
std::vector<std::string_view> suite_names();

/// Throws std::invalid_argument for an unknown name, with the known ones.
std::vector<Group> make_suite(std::string_view name, const roofline::DeviceFacts& device);

/// What --op, --dtype and --shape ask for. Empty lists mean all that make sense.
struct Request {
  std::vector<roofline::Op> ops;
  std::vector<roofline::Dtype> dtypes;
  std::optional<std::string> shape;  // "N", "MxN", "MxNxK", "BxMxNxK"
};

/// The groups of `suite` that a request without a shape picks, or one group a case of the request's
/// own shape. Throws std::invalid_argument for a shape that does not fit its op.
std::vector<Group> select(std::vector<Group> suite, const Request& request);

}  // namespace bench
