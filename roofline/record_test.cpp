#include "roofline/record.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <locale>
#include <stdexcept>
#include <string>

#include "roofline/csv.h"

namespace roofline {
namespace {

// The schema as people's notebooks know it.
constexpr const char* kHeader =
    "schema,run_id,timestamp_utc,host,backend,device,device_uuid,repetition,op,implementation,"
    "variant,dtype_a,dtype_b,dtype_out,compute_type,layout,scale_mode,fast_accumulation,m,n,k,"
    "batch,"
    "cache,data,seed,flops,bytes_read,bytes_written,intensity_flops_per_byte,launches_per_sample,"
    "copies,samples,rounds,time_median_s,time_ci_low_s,time_ci_high_s,time_p10_s,time_p90_s,"
    "time_min_s,time_mean_s,time_cv,achieved_flops_per_s,achieved_bytes_per_s,roof_name,roof_kind,"
    "peak_flops_per_s,peak_bytes_per_s,attainable_flops_per_s,fraction_of_roof,"
    "fraction_of_measured_roof,fraction_of_measured_roof_low,fraction_of_measured_roof_high,"
    "mfu,mfu_at_measured_clock,bound,sm_clock_mhz,memory_clock_mhz,power_w,temperature_c,throttle_"
    "reasons,throttled_samples,workspace_bytes,numerical_impl,"
    "verified,error_metric,max_error,tolerance,status,note\n";

Record example() {
  Record r;
  r.run_id = "20260101T000000Z-host-1";
  r.device = "NVIDIA \"H100\", 80GB";
  r.what = make_case(Op::gemm, Dtype::fp8_e4m3, 1, 16896, 16384);
  r.fast_accumulation = false;
  r.flops = 553648128.0;
  r.time_median_s = 1.2345678901234567e-6;
  r.roof_kind = Kind::datasheet;
  r.bound = Bound::memory;
  r.verified = true;
  r.status = Status::noisy;
  return r;
}

std::string file_with(const Record& r) {
  return csv_line(measurement_columns()) + csv_line(to_fields(r));
}

TEST(Record, HeaderIsTheSchema) { EXPECT_EQ(csv_line(measurement_columns()), kHeader); }

TEST(Record, ComesBackAsItWent) {
  const Record r = example();
  const auto back = parse_measurements(file_with(r), "m.csv");
  ASSERT_EQ(back.size(), 1U);
  EXPECT_EQ(to_fields(back[0]), to_fields(r));
  EXPECT_EQ(back[0].what, r.what);
  EXPECT_EQ(back[0].device, r.device);
  EXPECT_EQ(back[0].time_median_s, r.time_median_s);  // every bit
  EXPECT_FALSE(back[0].mfu);
}

TEST(Record, NumbersKeepAllTheirDigits) {
  Record r = example();
  for (const double value : {1e-9, 1.0 / 3, 6.62607015e-34, 9.895e14, 1e25, 0.1}) {
    r.time_median_s = value;
    EXPECT_EQ(parse_measurements(file_with(r), "m.csv")[0].time_median_s, value);
  }
}

TEST(Record, WhatIsNotFiniteIsUnknown) {
  Record r = example();
  r.time_median_s = std::numeric_limits<double>::infinity();
  r.mfu = std::numeric_limits<double>::quiet_NaN();
  const Record back = parse_measurements(file_with(r), "m.csv")[0];
  EXPECT_FALSE(back.time_median_s);
  EXPECT_FALSE(back.mfu);
}

struct CommaDecimals : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  std::string do_grouping() const override { return "\3"; }
};

TEST(Record, IgnoresTheLocale) {
  const std::string before = file_with(example());
  const std::locale old = std::locale::global(std::locale(std::locale(), new CommaDecimals));
  const std::string after = file_with(example());
  const Record back = parse_measurements(after, "m.csv")[0];
  std::locale::global(old);
  EXPECT_EQ(after, before);
  EXPECT_EQ(back.time_median_s, example().time_median_s);
}

TEST(Record, NamesLineColumnAndValueOfABadField) {
  struct Row {
    const char* from;
    const char* to;
    const char* message;
  };
  const Row rows[] = {
      {",553648128,", ",many,", "m.csv:2: flops is \"many\", expected a number"},
      {",553648128,", ",1e999,", "m.csv:2: flops is \"1e999\", expected a number"},
      {",16896,", ",1.5,", "m.csv:2: n is \"1.5\", expected a whole number"},
      {",gemm,", ",gem,", "m.csv:2: op is \"gem\", expected a known name"},
      {",false,", ",no,", "m.csv:2: fast_accumulation is \"no\", expected true or false"},
      {"\n1,", "\n2,", "m.csv:2: schema is 2, this program reads 1"},
  };
  for (const Row& row : rows) {
    std::string text = file_with(example());
    text.replace(text.find(row.from), std::string(row.from).size(), row.to);
    try {
      parse_measurements(text, "m.csv");
      ADD_FAILURE() << row.to;
    } catch (const std::runtime_error& e) {
      EXPECT_STREQ(e.what(), row.message);
    }
  }
}

TEST(Record, RefusesAFileOfAnotherKind) {
  EXPECT_THROW(parse_measurements("name,value\nx,1\n", "m.csv"), std::runtime_error);
}

TEST(Record, PassesOverColumnsOfALaterVersion) {
  std::string text = file_with(example());
  text.insert(text.find('\n'), ",new_column");
  text.insert(text.size() - 1, ",7");
  EXPECT_EQ(parse_measurements(text, "m.csv").size(), 1U);
}

TEST(Roofs, ComeBackAsTheyWent) {
  const Roof memory{.name = "hbm",
                    .kind = Kind::datasheet,
                    .level = Level::memory,
                    .per_s = 3.35e12,
                    .source = "a sheet, \"SXM\" column"};
  const Roof compute{.name = "tensor_bf16",
                     .kind = Kind::derived,
                     .pipe = Pipe::matrix,
                     .dtype = Dtype::bf16,
                     .per_s = 1070.5e12,
                     .clock_mhz = 1980};
  std::string text = csv_line(roof_columns());
  for (const Roof& r : {memory, compute}) text += csv_line(to_fields(r, "run"));
  const auto back = parse_roofs(text, "roofs.csv");
  ASSERT_EQ(back.size(), 2U);
  EXPECT_EQ(back[0].bytes_per_s().value, 3.35e12);
  EXPECT_EQ(back[0].flops_per_s().value, 0);
  EXPECT_EQ(back[1].flops_per_s().value, 1070.5e12);
  EXPECT_EQ(to_fields(back[0], "run"), to_fields(memory, "run"));
  EXPECT_EQ(to_fields(back[1], "run"), to_fields(compute, "run"));
}

}  // namespace
}  // namespace roofline
