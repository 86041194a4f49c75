#include "roofline/csv.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace roofline {
namespace {

struct FieldRow {
  const char* name;
  std::string field, written;
};

const FieldRow kFields[] = {
    {"plain", "relu", "relu"},
    {"empty", "", ""},
    {"comma", "a,b", "\"a,b\""},
    {"quote", "5\" card", "\"5\"\" card\""},
    {"line_break_becomes_a_space", "two\nlines\r", "two lines "},
    {"nul_becomes_a_space", std::string("a\0b", 3), "a b"},
    {"non_ascii_and_blanks_stay", "Gerät\t ", "Gerät\t "},
};

TEST(Csv, QuotesWhatNeedsIt) {
  for (const FieldRow& row : kFields) EXPECT_EQ(csv_field(row.field), row.written) << row.name;
}

TEST(Csv, ReadsBackWhatItWrote) {
  for (const FieldRow& row : kFields) {
    const std::string text = csv_line({"x", "y"}) + csv_line({row.field, "end"});
    const CsvTable table = parse_csv(text, "t.csv");
    ASSERT_EQ(table.rows.size(), 1U) << row.name;
    EXPECT_EQ(csv_field(table.rows[0].fields[0]), row.written) << row.name;
    EXPECT_EQ(table.rows[0].fields[1], "end") << row.name;
  }
}

TEST(Csv, CountsLinesOfTheFile) {
  const CsvTable table = parse_csv("\xEF\xBB\xBFx,y\r\n\n\"two\nlines\",1\r\n3,4\n", "t.csv");
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.header[0], "x");
  EXPECT_EQ(table.rows[0].line, 3U);
  EXPECT_EQ(table.rows[0].fields[0], "two\nlines");
  EXPECT_EQ(table.rows[1].line, 5U);
}

TEST(Csv, DropsTheHalfRowOfAKilledRun) {
  EXPECT_EQ(parse_csv("x,y\n1,2\n3,", "t.csv").rows.size(), 1U);
  EXPECT_EQ(parse_csv("x,y\n1,2\n3,\"4", "t.csv").rows.size(), 1U);
}

struct BadRow {
  const char* text;
  const char* message;
};

const BadRow kBad[] = {
    {"", "t.csv:1: expected a CSV header, the file is empty"},
    {"x,y", "t.csv:1: expected a CSV header, the file is empty"},
    {"x,y\n1\n", "t.csv:2: 1 fields, the header has 2"},
    {"x,y\n1,2,3\n", "t.csv:2: 3 fields, the header has 2"},
    {"x,y\n1,2\n\"a\"b,2\n", "t.csv:3: text after a closing quote"},
    {"x,y\na\"b\",2\n", "t.csv:2: a quote inside an unquoted field"},
};

TEST(Csv, NamesFileAndLineOfWhatItCannotRead) {
  for (const BadRow& row : kBad) {
    try {
      parse_csv(row.text, "t.csv");
      ADD_FAILURE() << "taken: " << row.text;
    } catch (const std::runtime_error& e) {
      EXPECT_STREQ(e.what(), row.message);
    }
  }
}

}  // namespace
}  // namespace roofline
