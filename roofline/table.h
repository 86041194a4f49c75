// What a command prints: one table, three formats, the same keys in each.
#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace roofline {

enum class OutputFormat { table, csv, json };
std::optional<OutputFormat> parse_output_format(std::string_view name);

/// Nothing, where a value is unknown: an empty field, `null` in JSON. Non-finite numbers are
/// unknown.
using Cell = std::variant<std::monostate, std::string, double, std::int64_t, bool>;

struct Table {
  std::string title;  // printed above a table, not in csv or json
  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows;
};

/// `table`: aligned columns, numbers to 6 significant digits; `csv`: RFC 4180; `json`: an array of
/// objects. csv and json carry numbers with all their digits. Independent of the locale.
std::string to_text(const Table& table, OutputFormat format);

}  // namespace roofline
