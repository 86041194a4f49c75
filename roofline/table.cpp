#include "roofline/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "roofline/csv.h"

namespace roofline {
namespace {

template <typename T>
constexpr bool kIsNumber = std::is_same_v<T, double> || std::is_same_v<T, std::int64_t>;

/// With `digits` significant ones, or with as many as read back as the same number.
std::string cell_text(const Cell& cell, std::optional<int> digits = std::nullopt) {
  return std::visit(
      [&](const auto& value) -> std::string {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          return "";
        } else if constexpr (std::is_same_v<T, double>) {
          if (!std::isfinite(value)) return "";
          return digits ? fmt::format("{:.{}g}", value, *digits) : fmt::format("{}", value);
        } else {
          return fmt::format("{}", value);
        }
      },
      cell);
}

std::string to_csv(const Table& table) {
  std::string text = csv_line(table.columns);
  for (const auto& row : table.rows) {
    std::vector<std::string> fields;
    for (const Cell& cell : row) fields.push_back(cell_text(cell));
    text += csv_line(fields);
  }
  return text;
}

std::string to_json(const Table& table) {
  using nlohmann::ordered_json;
  std::string text = "[";
  for (const auto& row : table.rows) {
    ordered_json object = ordered_json::object();
    for (std::size_t i = 0; i < row.size(); ++i) {
      object[table.columns[i]] = std::visit(
          [](const auto& value) -> ordered_json {
            if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>) {
              return nullptr;
            } else {
              return value;  // a double that is not finite is dumped as null
            }
          },
          row[i]);
    }
    text += text.size() > 1 ? ",\n " : "\n ";
    text += object.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  }
  return text + "\n]\n";
}

/// Code points: good enough for the widths of Latin, Greek and units.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string to_aligned(const Table& table, bool color) {
  std::vector<std::size_t> widths;
  for (const std::string& column : table.columns) widths.push_back(width(column));

  std::vector<std::vector<std::string>> texts;
  for (const auto& row : table.rows) {
    auto& line = texts.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) {
      std::string text = cell_text(row[i], table.digits);
      // A line feed or an escape sequence out of a file must not reach the terminal.
      std::replace_if(
          text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c == 0x7F; }, ' ');
      widths[i] = std::max(widths[i], width(text));
      line.push_back(std::move(text));
    }
  }

  // A column is aligned to the right if it holds numbers, its header with it.
  std::vector<bool> right(widths.size(), false);
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (std::visit([](const auto& v) { return kIsNumber<std::decay_t<decltype(v)>>; }, row[i])) {
        right[i] = true;
      }
    }
  }
  const auto aligned = [&](const std::vector<std::string>& fields) {
    std::string line;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const std::string pad(widths[i] - width(fields[i]), ' ');
      line += (i == 0 ? "" : "  ") + (right[i] ? pad + fields[i] : fields[i] + pad);
    }
    return line.erase(line.find_last_not_of(' ') + 1);
  };
  const auto bold = [&](const std::string& line) {
    return color ? "\x1b[1m" + line + "\x1b[0m\n" : line + '\n';
  };

  std::string text = table.title.empty() ? "" : bold(table.title);
  if (!table.columns.empty()) text += bold(aligned(table.columns));
  for (const auto& line : texts) text += aligned(line) + '\n';
  for (const std::string& note : table.notes) text += note + '\n';
  return text;
}

}  // namespace

std::optional<OutputFormat> parse_output_format(std::string_view name) {
  if (name == "table") return OutputFormat::table;
  if (name == "csv") return OutputFormat::csv;
  if (name == "json") return OutputFormat::json;
  return std::nullopt;
}

Cell cell(const std::optional<double>& value, double unit) {
  return value ? Cell(*value / unit) : Cell();
}

Cell text_cell(std::string_view text) { return text.empty() ? Cell() : Cell(std::string(text)); }

std::string to_text(const Table& table, OutputFormat format, bool color) {
  for (const auto& row : table.rows) {
    if (row.size() != table.columns.size()) {
      throw std::invalid_argument(fmt::format("table \"{}\": a row has {} cells, expected {}",
                                              table.title, row.size(), table.columns.size()));
    }
  }
  switch (format) {
    case OutputFormat::csv:
      return to_csv(table);
    case OutputFormat::json:
      return to_json(table);
    case OutputFormat::table:
      break;
  }
  return to_aligned(table, color);
}

}  // namespace roofline
