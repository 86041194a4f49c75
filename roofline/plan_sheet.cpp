#include "roofline/plan_sheet.h"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <utility>

namespace roofline {
namespace {

constexpr double kGB = 1e9, kGiB = 1024.0 * 1024 * 1024;

double as_double(const Cell& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return NAN;  // which a cell shows as unknown
}

void drop_empty_columns(Table& table) {
  for (std::size_t column = table.columns.size(); column-- > 0;) {
    bool empty = true;
    for (const auto& row : table.rows) {
      empty = empty && std::holds_alternative<std::monostate>(row[column]);
    }
    if (!empty) continue;
    table.columns.erase(table.columns.begin() + static_cast<std::ptrdiff_t>(column));
    for (auto& row : table.rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
  }
}

}  // namespace

Cell number_cell(double value) {
  if (value == std::trunc(value) && std::fabs(value) < 0x1p63) {
    return static_cast<std::int64_t>(value);
  }
  return std::isfinite(value) ? Cell{value} : Cell{};
}

std::string number_text(double value) {
  if (value == std::trunc(value) && std::fabs(value) < 1e18) return fmt::format("{:.0f}", value);
  return fmt::format("{:.6g}", value);
}

std::string bytes_text(double bytes) {
  return fmt::format("{:.6g} GB ({:.6g} GiB)", bytes / kGB, bytes / kGiB);
}

void PlanSheet::print(Output& out, bool explain) const {
  const bool as_table = out.format == OutputFormat::table;
  Table table{.title = summary,
              .columns = {"item", "value", "expected", "unit", "GB", "GiB", "formula", "convention",
                          "not_included", "source", "explanation"},
              .rows = {},
              .notes = {}};
  for (const PlanLine& line : lines) {
    const bool bytes = line.unit == "byte";
    table.rows.push_back(
        {(as_table && line.addend ? "  " : "") + line.item, line.value, line.expected,
         text_cell(line.unit), bytes ? Cell{as_double(line.value) / kGB} : Cell{},
         bytes ? Cell{as_double(line.value) / kGiB} : Cell{}, text_cell(line.formula),
         text_cell(line.convention), text_cell(line.not_included), text_cell(line.source),
         as_table ? Cell{} : text_cell(line.explanation)});
    if (explain && !line.explanation.empty()) {
      table.notes.push_back(fmt::format("{} {}: {}", line.formula, line.item, line.explanation));
    }
  }
  if (as_table) drop_empty_columns(table);
  out.print(table);
}

}  // namespace roofline
