#include "bench/dry_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/implementation.h"
#include "roofline/roof.h"
#include "roofline/spec.h"

namespace bench {
namespace {

using roofline::Case;
using roofline::Cell;

struct Prediction {
  double time_s;
  std::string from;
};

/// Roofs where both that may bind are known: else 10 GB/s and 10 GFLOP/s a processor, which a slow
/// core of today reaches.
Prediction predict(const Case& c, const Device& device) {
  const auto roofs = roofline::theoretical_roofs(device.facts());
  const roofline::Placing placing = place(c, uncached_level(c), roofs);
  if (placing.roof_time && placing.roof != nullptr) {
    return {placing.roof_time->value,
            fmt::format("{} {}", name(placing.roof->kind), placing.roof->name)};
  }
  const double each_per_s = 10e9 * device.facts().processors;
  const auto cost = roofline::cost(c);
  return {std::max(cost.bytes().value, cost.flops.value) / each_per_s, "guess"};
}

}  // namespace

roofline::Table dry_run(std::span<const Group> groups, const Settings& settings, Device& device) {
  roofline::Table table{
      .columns = {"group", "op", "dtype", "shape", "by", "cache", "data", "predicted_us", "from"},
      .digits = 4};
  for (const Group& group : groups) {
    for (const Case& c : group.cases) {
      for (const std::string& cache : settings.caches) {
        for (const Implementation& i : implementations()) {
          if (!takes_part(i, settings.implementations, c.op, device)) continue;
          const auto refusal = i.refuses(c, device);
          const Prediction p = predict(c, device);
          for (const kernels::InputKind kind : data_of(group, settings)) {
            table.rows.push_back({group.name, std::string(name(c.op)), dtype_label(c),
                                  shape_label(c), std::string(i.name), cache,
                                  std::string(name(kind)), refusal ? Cell() : Cell(p.time_s / 1e-6),
                                  refusal ? "unsupported: " + *refusal : p.from});
          }
        }
      }
    }
  }
  table.notes.push_back("guess: 10 GB/s or 10 GFLOP/s a processor, where roofs are only measured");
  table.notes.push_back(
      fmt::format("{} groups, measured in at most {:.0f} s", groups.size(), settings.budget_s));
  return table;
}

std::string status_line(std::size_t number, std::size_t groups, const std::string& group,
                        double elapsed_s, double budget_s, const std::string& last) {
  const auto before = static_cast<double>(number - 1);
  double left_s = std::max(0.0, budget_s - elapsed_s);
  if (before > 0) {
    left_s = std::min(left_s, elapsed_s / before * static_cast<double>(groups - number + 1));
  }
  return fmt::format("[{}/{}] {}, {:.0f} s left{}", number, groups, group, left_s,
                     last.empty() ? "" : "; last: " + last);
}

}  // namespace bench
