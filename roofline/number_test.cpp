#include "roofline/number.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace roofline {
namespace {

TEST(Number, CountsHaveDecimalSuffixes) {
  EXPECT_EQ(parse_count("1024", "--gpus"), 1024);
  EXPECT_EQ(parse_count("238.3k", "--tokens"), 238'300);
  EXPECT_EQ(parse_count("2.3M", "--params"), 2'300'000);
  EXPECT_EQ(parse_count("70B", "--params"), 70'000'000'000);
  EXPECT_EQ(parse_count("15T", "--tokens"), 15'000'000'000'000);
  EXPECT_EQ(parse_count("216.2e12", "--tokens"), 216'200'000'000'000);
  EXPECT_EQ(parse_count("9007199254740993", "--params"), 9'007'199'254'740'993);  // 2^53 + 1
}

TEST(Number, SizesAreDecimalUnlessSpeltBinary) {
  EXPECT_EQ(parse_bytes("80GB", "--gpu-memory"), 80'000'000'000);
  EXPECT_EQ(parse_bytes("80GiB", "--gpu-memory"), 85'899'345'920);
  EXPECT_EQ(parse_bytes("256MiB", "--shape"), 268'435'456);
  EXPECT_EQ(parse_bytes("100kB", "--kv"), 100'000);
  EXPECT_EQ(parse_bytes("640", "--kv"), 640);
}

TEST(Number, RatesAndDurationsCarryTheirUnits) {
  EXPECT_DOUBLE_EQ(parse_bytes_per_s("3.35TB/s", "--bandwidth"), 3.35e12);
  EXPECT_DOUBLE_EQ(parse_bytes_per_s("2e12", "--bandwidth"), 2e12);
  EXPECT_DOUBLE_EQ(parse_flops_per_s("989.5TFLOP/s", "--peak"), 989.5e12);
  EXPECT_DOUBLE_EQ(parse_flops_per_s("275T", "--peak"), 275e12);
  EXPECT_DOUBLE_EQ(parse_per_s("238.3k", "--tokens-per-s"), 238300);
  EXPECT_DOUBLE_EQ(parse_seconds("14ms", "--step-time"), 0.014);
  EXPECT_DOUBLE_EQ(parse_seconds("30min", "--within"), 1800);
  EXPECT_DOUBLE_EQ(parse_seconds("14d", "--within"), 14 * 86400);
}

struct Refusal {
  const char* text;
  std::int64_t (*parse)(std::string_view, std::string_view);
};

TEST(Number, RefusesWhatItWouldHaveToGuess) {
  const Refusal kRefusals[] = {
      {"", parse_count},       {"many", parse_count},  {"-1", parse_count},
      {"-0.0", parse_count},   {"0.4", parse_count},   {"1.5", parse_count},
      {"70GB", parse_count},   {"70G", parse_count},   {"70b", parse_count},
      {"1K", parse_count},     {"7 B", parse_count},   {"inf", parse_count},
      {"nan", parse_count},    {"0x10", parse_count},  {"10TT", parse_count},
      {"9.3e18", parse_count}, {"1e400", parse_count}, {"9999999999999999999", parse_count},
      {"1,000", parse_count},  {"70B", parse_bytes},   {"80gb", parse_bytes},
      {"80G", parse_bytes},    {"80Gb", parse_bytes},  {"0.5", parse_bytes},
  };
  for (const Refusal& r : kRefusals) {
    EXPECT_THROW(r.parse(r.text, "--it"), std::invalid_argument) << r.text;
  }
}

TEST(Number, MessagesNameTheOptionAndTheCure) {
  try {
    parse_bytes("70B", "--gpu-memory");
    FAIL();
  } catch (const std::invalid_argument& e) {
    EXPECT_EQ(std::string(e.what()),
              "--gpu-memory: expected a size such as 80GB (1e9 byte) or 80GiB (2^30 byte), got "
              "\"70B\"");
  }
}

TEST(Number, DurationsAreAboveZeroAndNeedAUnit) {
  EXPECT_THROW(parse_seconds("0s", "--within"), std::invalid_argument);
  EXPECT_THROW(parse_seconds("14", "--within"), std::invalid_argument);
  EXPECT_THROW(parse_seconds("3mo", "--within"), std::invalid_argument);
}

}  // namespace
}  // namespace roofline
