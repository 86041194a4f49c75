// What a command prints: one table, three formats, the same keys in each.
#pragma once

#include <cstdint>
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

/// In units of `unit`; nothing where it is unknown.
Cell cell(const std::optional<double>& value, double unit = 1);
/// Nothing where it is empty.
Cell text_cell(std::string_view text);

struct Table {
  std::string title;                 // printed above a table, not in csv or json
  std::vector<std::string> columns;  // also the keys in csv and json
  std::vector<std::vector<Cell>> rows;
  std::vector<std::string> notes;  // printed below a table, not in csv or json
  int digits = 6;                  // significant ones, in a table
};

/// `table`: aligned columns, numbers to `digits` significant digits, title and header bold if
/// `color`; `csv`: RFC 4180, one line a record; `json`: an array of objects. csv and json carry
/// numbers with all their digits, and what is not UTF-8 as U+FFFD in json. Independent of the
/// locale. Throws std::invalid_argument where a row has more or fewer cells than there are columns.
std::string to_text(const Table& table, OutputFormat format, bool color = false);

}  // namespace roofline
