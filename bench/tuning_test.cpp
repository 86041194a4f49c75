// Which variant of another run is taken for which case.
#include "bench/tuning.h"

#include <gtest/gtest.h>

namespace bench {
namespace {

using roofline::Case;
using roofline::Dtype;
using roofline::make_case;
using roofline::Op;
using roofline::Record;
using roofline::Status;

Record row(const Case& c, const char* variant, double flops_per_s, Status status = Status::ok,
           const char* cache = "cold") {
  return {.what = c,
          .implementation = "ours",
          .variant = variant,
          .cache = cache,
          .achieved_flops_per_s = flops_per_s,
          .status = status};
}

Case relu(std::int64_t n, Dtype dtype = Dtype::bf16) { return make_case(Op::relu, dtype, 1, n, 1); }

const Record kTuning[] = {
    row(relu(5000), "slow", 1e9),
    row(relu(8000), "fast", 2e9),  // of the same class: 2^12 <= n < 2^13
    row(relu(6000), "noisy", 3e9, Status::noisy),
    row(relu(6000), "hot", 4e9, Status::ok, "hot"),
    row(relu(9000), "large", 5e9),
    row(relu(6000, Dtype::fp32), "fp32", 6e9),
    row(relu(6000), "of another library", 7e9),
};
const std::string kOffered[] = {"slow", "fast", "noisy", "hot", "large", "fp32"};

struct Row {
  const char* name;
  Case what;
  const char* variant;  // null: none
};

const Row kRows[] = {
    {"the fastest ok row of its class", relu(4096), "fast"},
    {"the upper end of the class", relu(8191), "fast"},
    {"the next class", relu(8192), "large"},
    {"another type", relu(4096, Dtype::fp32), "fp32"},
    {"no such size", relu(64), nullptr},
    {"no such op", make_case(Op::gelu, Dtype::bf16, 1, 5000, 1), nullptr},
};

TEST(TunedVariant, IsThatOfTheFastestRowOfTheSameClass) {
  for (const Row& r : kRows) {
    const auto variant = tuned_variant(kTuning, row(r.what, "", 0), kOffered);
    EXPECT_EQ(variant.value_or("none"), r.variant == nullptr ? "none" : r.variant) << r.name;
  }
}

}  // namespace
}  // namespace bench
