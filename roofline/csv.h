// RFC 4180: quoting, and a reader that names file and line of what it cannot read.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace roofline {

/// `field` as it stands in a row: quoted where it holds a comma, a quote or a line break. Control
/// characters other than tab become spaces, so that a record is always one physical line.
std::string csv_field(std::string_view field);

/// Fields joined by commas and ended by '\n'.
std::string csv_line(const std::vector<std::string>& fields);

struct CsvRow {
  std::size_t line;  // in the file, from 1
  std::vector<std::string> fields;
};

struct CsvTable {
  std::vector<std::string> header;
  std::vector<CsvRow> rows;
};

/// Throws std::runtime_error "<source>:<line>: ..." for an unclosed quote, text after a closing
/// quote, a row whose number of fields differs from the header's, or no header at all. A last line
/// without '\n' is what a killed run leaves, and is dropped. CRLF and a byte order mark are taken.
CsvTable parse_csv(std::string_view text, std::string_view source);

}  // namespace roofline
