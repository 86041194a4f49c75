#include "roofline/report.h"

#include <fmt/format.h>

#include <algorithm>

namespace roofline {
namespace {

Cell scaled(const std::optional<double>& value, double unit) {
  return value ? Cell(*value / unit) : Cell();
}

Cell text(std::string_view value) { return value.empty() ? Cell() : Cell(std::string(value)); }

/// Half of the interval's width, in percent of the median.
Cell spread(const Record& r) {
  if (!r.time_median_s || !r.time_ci_low_s || !r.time_ci_high_s) return {};
  return 100 * (*r.time_ci_high_s - *r.time_ci_low_s) / 2 / *r.time_median_s;
}

}  // namespace

Table report(std::span<const Record> records) {
  Table table{.columns = {"op", "dtype", "shape", "by", "variant", "cache", "time_us", "+-_percent",
                          "GB/s", "TFLOP/s", "percent_of_roof", "roof", "kind",
                          "percent_of_measured", "mfu_percent", "bound", "status"},
              .digits = 4};
  for (const Record& r : records) {
    table.rows.push_back(
        {std::string(name(r.what.op)), dtype_label(r.what), shape_label(r.what),
         text(r.implementation), text(r.variant), text(r.cache), scaled(r.time_median_s, 1e-6),
         spread(r), scaled(r.achieved_bytes_per_s, 1e9), scaled(r.achieved_flops_per_s, 1e12),
         scaled(r.fraction_of_roof, 0.01), text(r.roof_name),
         r.roof_kind ? text(name(*r.roof_kind)) : Cell(), scaled(r.fraction_of_measured_roof, 0.01),
         scaled(r.mfu, 0.01), r.bound ? text(name(*r.bound)) : Cell(), text(name(r.status))});
    if (!r.note.empty()) {
      const std::string note = fmt::format("{} {}: {}", name(r.what), r.implementation, r.note);
      if (std::find(table.notes.begin(), table.notes.end(), note) == table.notes.end()) {
        table.notes.push_back(note);
      }
    }
  }
  return table;
}

}  // namespace roofline
