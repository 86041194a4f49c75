#include "roofline/table.h"

#include <gtest/gtest.h>

#include <limits>
#include <locale>
#include <stdexcept>
#include <string>

namespace roofline {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Table peaks() {
  return {.title = "two roofs",
          .columns = {"name", "per_s", "sms", "used"},
          .rows = {{"tensor", 989.5e12, std::int64_t{132}, true},
                   {"a \"b\", c", 0.1, std::monostate{}, false}},
          .notes = {"dense"}};
}

TEST(Cell, IsNothingWhereAValueIsUnknown) {
  EXPECT_EQ(cell(std::nullopt), Cell());
  EXPECT_EQ(cell(0.75, 0.25), Cell(3.0));
  EXPECT_EQ(text_cell(""), Cell());
  EXPECT_EQ(text_cell("hbm"), Cell(std::string("hbm")));
}

TEST(Table, AlignsTextLeftAndNumbersRight) {
  EXPECT_EQ(to_text(peaks(), OutputFormat::table),
            "two roofs\n"
            "name          per_s  sms  used\n"
            "tensor    9.895e+14  132  true\n"
            "a \"b\", c        0.1       false\n"
            "dense\n");
}

TEST(Table, CsvQuotesByRfc4180AndKeepsAllDigits) {
  EXPECT_EQ(to_text(peaks(), OutputFormat::csv),
            "name,per_s,sms,used\n"
            "tensor,989500000000000,132,true\n"
            "\"a \"\"b\"\", c\",0.1,,false\n");
}

TEST(Table, JsonIsAnArrayOfObjectsWithTheSameKeys) {
  EXPECT_EQ(to_text(peaks(), OutputFormat::json),
            "[\n"
            " {\"name\":\"tensor\",\"per_s\":989500000000000.0,\"sms\":132,\"used\":true},\n"
            " {\"name\":\"a \\\"b\\\", c\",\"per_s\":0.1,\"sms\":null,\"used\":false}\n"
            "]\n");
}

TEST(Table, WithoutRowsIsStillValid) {
  const Table empty{.title = "", .columns = {"a", "b"}, .rows = {}, .notes = {}};
  EXPECT_EQ(to_text(empty, OutputFormat::table), "a  b\n");
  EXPECT_EQ(to_text(empty, OutputFormat::csv), "a,b\n");
  EXPECT_EQ(to_text(empty, OutputFormat::json), "[\n]\n");
}

TEST(Table, NonFiniteNumbersAreUnknown) {
  const Table t{.title = "", .columns = {"a", "b"}, .rows = {{kNaN, 1 / 0.0}}, .notes = {}};
  EXPECT_EQ(to_text(t, OutputFormat::table), "a  b\n\n");
  EXPECT_EQ(to_text(t, OutputFormat::csv), "a,b\n,\n");
  EXPECT_EQ(to_text(t, OutputFormat::json), "[\n {\"a\":null,\"b\":null}\n]\n");
}

TEST(Table, ForeignTextCannotBreakALineNorTheTerminal) {
  const Table t{.title = "", .columns = {"a"}, .rows = {{"x\n\x1b[31my\xff"}}, .notes = {}};
  EXPECT_EQ(to_text(t, OutputFormat::table), "a\nx  [31my\xff\n");
  EXPECT_EQ(to_text(t, OutputFormat::csv), "a\nx  [31my\xff\n");
  EXPECT_EQ(to_text(t, OutputFormat::json), "[\n {\"a\":\"x\\n\\u001b[31my\xEF\xBF\xBD\"}\n]\n");
}

TEST(Table, ColorIsBoldHeadersOfATableOnly) {
  const Table t{.title = "t", .columns = {"a"}, .rows = {{"x"}}, .notes = {}};
  EXPECT_EQ(to_text(t, OutputFormat::table, true), "\x1b[1mt\x1b[0m\n\x1b[1ma\x1b[0m\nx\n");
  EXPECT_EQ(to_text(t, OutputFormat::csv, true), "a\nx\n");
}

TEST(Table, WidthsCountCharactersNotBytes) {
  const Table t{
      .title = "", .columns = {"a", "b"}, .rows = {{"µs", "1"}, {"ab", "2"}}, .notes = {}};
  EXPECT_EQ(to_text(t, OutputFormat::table), "a   b\nµs  1\nab  2\n");
}

TEST(Table, RefusesRowsOfAnotherLength) {
  const Table t{.title = "t", .columns = {"a", "b"}, .rows = {{"x"}}, .notes = {}};
  EXPECT_THROW(to_text(t, OutputFormat::csv), std::invalid_argument);
}

struct DecimalComma : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST(Table, NumbersDoNotDependOnTheLocale) {
  const std::locale before = std::locale::global(std::locale(std::locale(), new DecimalComma));
  Table t{.title = "", .columns = {"a", "b"}, .rows = {{1234.5, std::int64_t{12345}}}, .notes = {}};
  EXPECT_EQ(to_text(t, OutputFormat::table), "     a      b\n1234.5  12345\n");
  EXPECT_EQ(to_text(t, OutputFormat::csv), "a,b\n1234.5,12345\n");
  EXPECT_EQ(to_text(t, OutputFormat::json), "[\n {\"a\":1234.5,\"b\":12345}\n]\n");
  std::locale::global(before);
}

TEST(Table, FormatsAreNamed) {
  EXPECT_EQ(parse_output_format("json"), OutputFormat::json);
  EXPECT_EQ(parse_output_format("csv"), OutputFormat::csv);
  EXPECT_EQ(parse_output_format("table"), OutputFormat::table);
  EXPECT_EQ(parse_output_format("yaml"), std::nullopt);
}

}  // namespace
}  // namespace roofline
