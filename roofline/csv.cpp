#include "roofline/csv.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

namespace roofline {
namespace {

[[noreturn]] void fail(std::string_view source, std::size_t line, std::string_view what) {
  throw std::runtime_error(fmt::format("{}:{}: {}", source, line, what));
}

/// The fields of the record that starts at `text`, which ends before its line break.
std::vector<std::string> split(std::string_view text, std::string_view source, std::size_t line) {
  std::vector<std::string> fields(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ',') {
      fields.emplace_back();
    } else if (text[i] != '"') {
      fields.back() += text[i];
    } else if (!fields.back().empty() || (i > 0 && text[i - 1] != ',')) {
      fail(source, line, "a quote inside an unquoted field");
    } else {
      for (++i; i < text.size(); ++i) {
        if (text[i] != '"') {
          fields.back() += text[i];
        } else if (i + 1 < text.size() && text[i + 1] == '"') {
          fields.back() += text[i++];
        } else {
          break;
        }
      }
      if (i == text.size()) fail(source, line, "a quote that is not closed");
      if (i + 1 < text.size() && text[i + 1] != ',') {
        fail(source, line, "text after a closing quote");
      }
    }
  }
  return fields;
}

/// Length of the first record of `text` without its '\n', or npos where the text ends before one.
std::size_t record_length(std::string_view text) {
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') quoted = !quoted;
    if (text[i] == '\n' && !quoted) return i;
  }
  return std::string_view::npos;
}

}  // namespace

std::string csv_field(std::string_view field) {
  std::string clean(field);
  for (char& c : clean) {
    if (static_cast<unsigned char>(c) < 0x20 && c != '\t') c = ' ';
  }
  if (clean.find_first_of(",\"") == std::string::npos) return clean;
  std::string quoted = "\"";
  for (const char c : clean) {
    quoted += c;
    if (c == '"') quoted += '"';
  }
  return quoted + '"';
}

std::string csv_line(const std::vector<std::string>& fields) {
  // One empty field is quoted, for readers skip empty lines.
  if (fields.size() == 1 && fields[0].empty()) return "\"\"\n";
  std::string line;
  for (const std::string& f : fields) {
    if (&f != &fields.front()) line += ',';
    line += csv_field(f);
  }
  return line + '\n';
}

CsvTable parse_csv(std::string_view text, std::string_view source) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  CsvTable table;
  std::size_t line = 1;
  for (;;) {
    const std::size_t length = record_length(text);
    if (length == std::string_view::npos) break;
    std::string_view record = text.substr(0, length);
    const std::size_t first_line = line;
    for (const char c : record) line += c == '\n' ? 1 : 0;
    ++line;
    text.remove_prefix(length + 1);
    if (record.ends_with('\r')) record.remove_suffix(1);
    if (record.empty()) continue;

    std::vector<std::string> fields = split(record, source, first_line);
    if (table.header.empty()) {
      table.header = std::move(fields);
    } else if (fields.size() != table.header.size()) {
      fail(source, first_line,
           fmt::format("{} fields, the header has {}", fields.size(), table.header.size()));
    } else {
      table.rows.push_back({first_line, std::move(fields)});
    }
  }
  if (table.header.empty()) fail(source, 1, "expected a CSV header, the file is empty");
  return table;
}

}  // namespace roofline
