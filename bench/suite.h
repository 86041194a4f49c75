// Suites: functions that return what to measure, in groups.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/input.h"
#include "roofline/case.h"
#include "roofline/roof.h"

namespace bench {

/// One case, or the few that are compared: its rows are sampled in turns, so that ratios are
/// paired.
struct Group {
  std::string name;  // "relu+gelu/bf16/134217728"; what --benchmark_filter sees
  std::vector<roofline::Case> cases;
  bool measures_roof = false;  // part of every run: without roofs its rows stand nowhere
  /// The kinds of inputs that are compared; the run's own where empty.
  std::vector<kernels::InputKind> data = {};
  bool sustained = false;  // each row once more, without pause
};

/// The names that --suite takes.
std::vector<std::string_view> suite_names();

/// Seconds that a run of it takes at most, unless the user says otherwise.
double default_budget_s(std::string_view suite, bool cpu);
/// How often each of its groups is measured, unless the time is budgeted.
int default_visits(std::string_view suite, bool cpu);

/// "cold", "hot" or "both", unless the user says otherwise.
std::string_view default_cache(std::string_view suite);

/// Bytes that one launch of a bandwidth row moves: far past any cache, and long enough that the
/// ramps at both ends of a launch are below 1 % (H200: 512 MiB reach 79 % of the roof, 1 GiB 92 %).
double default_moved_bytes(const roofline::DeviceFacts& device);

/// Throws std::invalid_argument for an unknown name, with the known ones.
std::vector<Group> make_suite(std::string_view name, const roofline::DeviceFacts& device,
                              double moved_bytes);

/// What --op, --dtype and --shape ask for. Empty lists mean all that make sense.
struct Request {
  std::vector<roofline::Op> ops;
  std::vector<roofline::Dtype> dtypes;
  std::optional<std::string> shape;  // "N", "MxN", "MxNxK", "BxMxNxK"
  bool is_empty() const { return ops.empty() && dtypes.empty() && !shape; }
};

/// Whether the request names the case's op and dtype, or leaves them open.
bool asks_for(const Request& request, const roofline::Case& c);

/// The groups that measure roofs, and those that the request picks of `suite`; with a shape, one
/// group for each op and dtype of it instead. Throws std::invalid_argument for a shape that does
/// not fit its op, and where nothing matches: with what of such a device has it.
std::vector<Group> select(std::vector<Group> suite, const Request& request,
                          const roofline::DeviceFacts& device);

}  // namespace bench
