// Runs side by side: nodes of a fleet, two commits, two drivers.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "roofline/run.h"
#include "roofline/table.h"

namespace roofline {

struct ComparedRun {
  std::string name;
  std::vector<Record> records;
  Environment environment;
  std::vector<Roof> roofs = {};
};

struct Comparison {
  /// A line for each row that all runs measured and each run after the first, which is the
  /// reference: ratio = time / time of the first. Its interval is the widest that both medians'
  /// intervals allow. The notes say what agrees, which run stands apart, what became of the
  /// measured roofs, what differs between the environments, and which rows some run lacks.
  Table table;
  /// One line for each row that is slower than the first run's by more than `max_slowdown` (0.05
  /// for 5 %) at either end of its interval, or that failed where the first run measured it.
  std::vector<std::string> worse;
};

/// Rows match by case, implementation, variant, cache and data; of several alike, in their order.
/// Throws std::invalid_argument for fewer than two runs, std::runtime_error where no row matches.
Comparison compare(std::span<const ComparedRun> runs, std::optional<double> max_slowdown);

}  // namespace roofline
