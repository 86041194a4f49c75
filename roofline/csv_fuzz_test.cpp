// Whatever stands in a file, it is read or refused with std::runtime_error. Seeded, so that a
// failure comes back.
#include <gtest/gtest.h>

#include <random>
#include <stdexcept>
#include <string>

#include "roofline/csv.h"
#include "roofline/record.h"

namespace roofline {
namespace {

std::string rewritten(const CsvTable& table) {
  std::string text = csv_line(table.header);
  for (const CsvRow& row : table.rows) text += csv_line(row.fields);
  return text;
}

TEST(CsvFuzz, AnyTextIsReadOrRefused) {
  std::mt19937 random(1);
  const std::string alphabet("a1,,\"\"\n\n\r\t \0\xEF", 13);
  std::uniform_int_distribution<std::size_t> letter(0, alphabet.size() - 1), length(0, 40);
  int read = 0;
  for (int i = 0; i < 200000; ++i) {
    std::string text(length(random), ' ');
    for (char& c : text) c = alphabet[letter(random)];
    if (i % 8 == 0) text.insert(0, "\xEF\xBB\xBF");  // a byte order mark
    try {
      const CsvTable table = parse_csv(text, "fuzz");
      for (const CsvRow& row : table.rows) ASSERT_EQ(row.fields.size(), table.header.size());
      // What was read can be written, and what was written reads as the same.
      const std::string once = rewritten(table);
      ASSERT_EQ(rewritten(parse_csv(once, "fuzz")), once) << text;
      ++read;
    } catch (const std::runtime_error&) {
    }
  }
  EXPECT_GT(read, 1000);
}

/// Calls `parse` with damaged copies of `text`: bytes changed, removed, doubled, or the end cut
/// off.
template <typename Parse>
void damage(const std::string& text, Parse parse) {
  std::mt19937 random(2);
  const std::string bytes("0-.,\"\nenx\xFF\0", 11);
  for (int i = 0; i < 20000; ++i) {
    std::string copy = text;
    for (int hits = 1 + static_cast<int>(random() % 3); hits > 0 && !copy.empty(); --hits) {
      const std::size_t at = random() % copy.size();
      switch (random() % 4) {
        case 0:
          copy[at] = bytes[random() % bytes.size()];
          break;
        case 1:
          copy.erase(at, 1 + random() % 8);
          break;
        case 2:
          copy.insert(at, copy.substr(at, random() % 8));
          break;
        default:
          copy.resize(at);
      }
    }
    try {
      parse(copy);
    } catch (const std::runtime_error&) {
    }
  }
}

TEST(CsvFuzz, DamagedMeasurementsAreReadOrRefused) {
  Record record;
  record.device = "a \"card\", 80GB";
  record.what = make_case(Op::gemm, Dtype::fp8_e4m3, 1, 16896, 16384);
  record.time_median_s = 1.25e-6;
  record.verified = true;
  std::string text = csv_line(measurement_columns());
  for (int i = 0; i < 3; ++i) text += csv_line(to_fields(record));
  EXPECT_EQ(parse_measurements(text, "m.csv").size(), 3U);
  damage(text, [](const std::string& copy) { parse_measurements(copy, "m.csv"); });
}

TEST(CsvFuzz, DamagedRoofsAreReadOrRefused) {
  const Roof roof{.name = "tensor_bf16",
                  .kind = Kind::datasheet,
                  .pipe = Pipe::matrix,
                  .dtype = Dtype::bf16,
                  .per_s = 989.5e12,
                  .clock_mhz = 1830,
                  .source = "a sheet"};
  const std::string text = csv_line(roof_columns()) + csv_line(to_fields(roof, "run"));
  EXPECT_EQ(parse_roofs(text, "r.csv").size(), 1U);
  damage(text, [](const std::string& copy) { parse_roofs(copy, "r.csv"); });
}

}  // namespace
}  // namespace roofline
