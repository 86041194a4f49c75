#include "bench/suite.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "bench/runner.h"

namespace bench {
namespace {

using roofline::Dtype;
using roofline::Op;

const roofline::DeviceFacts kCpu{.backend = "cpu"}, kGpu{.backend = "cuda", .processors = 132};

std::vector<Group> make(std::string_view suite, const roofline::DeviceFacts& device) {
  return make_suite(suite, device, default_moved_bytes(device));
}

TEST(Suites, HaveGroupsOfUniqueNames) {
  for (const std::string_view suite : suite_names()) {
    for (const auto& device : {kCpu, kGpu}) {
      std::set<std::string> names;
      for (const Group& g : make(suite, device)) {
        EXPECT_FALSE(g.cases.empty());
        EXPECT_TRUE(names.insert(g.name).second) << suite << " has two groups " << g.name;
      }
    }
  }
}

TEST(Suites, MeasureTheRoofsFirst) {
  for (const std::string_view suite : suite_names()) {
    const auto groups = make(suite, kCpu);
    EXPECT_TRUE(groups.front().measures_roof);
    EXPECT_TRUE(std::is_partitioned(groups.begin(), groups.end(),
                                    [](const Group& g) { return g.measures_roof; }));
  }
}

TEST(QuickSuite, MovesEnough) {
  const auto check = [](const roofline::DeviceFacts& device, double bytes) {
    for (const Group& g : make("quick", device)) {
      for (const roofline::Case& c : g.cases) {
        const bool streams = info(c.op).access != roofline::Access::none && c.op != Op::gemm;
        if (!streams) continue;
        EXPECT_GE(cost(c).bytes().value, 0.95 * bytes) << g.name;
      }
    }
  };
  check(kGpu, 1 << 30);
  check(kCpu, 1 << 28);
}

TEST(QuickSuite, MeasuresTheMatrixPipeOfAGpuInEachType) {
  const auto mma = [](const roofline::DeviceFacts& device, double bytes) {
    std::vector<std::string> names;
    for (const Group& g : make_suite("quick", device, bytes)) {
      if (g.cases[0].op != Op::mma) continue;
      EXPECT_TRUE(g.measures_roof);
      names.push_back(g.name);
    }
    return names;
  };
  // 132 SMs of 64 x 256 sums, k of 32 bytes; 4 steps for each half MiB, 8192 at most.
  EXPECT_EQ(mma(kGpu, 1 << 30),
            (std::vector<std::string>{"mma/tf32/8192x2162688x8", "mma/fp16/8192x2162688x16",
                                      "mma/bf16/8192x2162688x16", "mma/fp8_e4m3/8192x2162688x32",
                                      "mma/fp8_e5m2/8192x2162688x32"}));
  EXPECT_EQ(mma(kGpu, 1 << 20).front(), "mma/tf32/8x2162688x8");
  EXPECT_EQ(mma(kGpu, 1).front(), "mma/tf32/4x2162688x8");
  EXPECT_TRUE(mma(kCpu, 1 << 28).empty());
}

TEST(RidgeSuite, SweepsOneLayerFromDecodeToPrefill) {
  // N: whole waves of 128-wide tiles next to 16384; 132 SMs x 128 = 16896.
  std::vector<std::string> bf16;
  for (const Group& g : make("ridge", kGpu)) {
    if (g.name.starts_with("gemm/bf16/")) bf16.push_back(g.name);
  }
  EXPECT_EQ(bf16.front(), "gemm/bf16/1x16896x16384");
  EXPECT_EQ(bf16.back(), "gemm/bf16/4096x16896x16384");
}

TEST(RampSuite, DoublesFrom64KiBTo4GiBOrTheCpusSize) {
  const auto sizes = [](const roofline::DeviceFacts& device) {
    std::set<double> bytes;
    for (const Group& g : make("ramp", device)) {
      if (g.cases[0].op == Op::copy) bytes.insert(cost(g.cases[0]).bytes().value);
    }
    return bytes;
  };
  const auto gpu = sizes(kGpu), cpu = sizes(kCpu);
  EXPECT_EQ(gpu.size(), 17U);  // 2^16 ... 2^32
  EXPECT_EQ(*gpu.begin(), 1 << 16);
  EXPECT_EQ(*gpu.rbegin(), 4.0 * (1 << 30));
  EXPECT_EQ(cpu.size(), 13U);  // 2^16 ... 2^28
  EXPECT_EQ(default_cache("ramp"), "both");
  EXPECT_EQ(default_cache("quick"), "cold");
}

TEST(TransferSuite, GoesBothWaysFrom64KiBTo1GiB) {
  std::set<double> up, down;
  for (const Group& g : make("transfer", kGpu)) {
    for (const roofline::Case& c : g.cases) {
      if (c.op == Op::h2d) up.insert(cost(c).read.value);
      if (c.op == Op::d2h) down.insert(cost(c).written.value);
    }
  }
  EXPECT_EQ(up, down);
  EXPECT_EQ(up.size(), 8U);  // 2^16, 2^18 ... 2^30
  EXPECT_EQ(*up.begin(), 1 << 16);
  EXPECT_EQ(*up.rbegin(), 1 << 30);
}

TEST(FullSuite, HasAllOthersAndEveryKindOfInputsForGemms) {
  for (const auto& device : {kCpu, kGpu}) {
    std::set<std::string> full;
    for (const Group& g : make("full", device)) full.insert(g.name);
    for (const std::string_view suite : suite_names()) {
      for (const Group& g : make(suite, device)) EXPECT_TRUE(full.contains(g.name)) << g.name;
    }
    for (const Group& g : make("full", device)) {
      const bool square = g.name == "gemm/bf16/1024x1024x1024", other = g.cases[0].op != Op::gemm;
      if (square) {
        EXPECT_EQ(g.data.size(), input_kinds().size());
      }
      if (other) {
        EXPECT_TRUE(g.data.empty()) << g.name;
      }
    }
  }
  EXPECT_EQ(default_cache("full"), "both");
}

TEST(DefaultVisits, AreSeveralWhereTheMachineMayChange) {
  EXPECT_EQ(default_visits("default", true), 3);
  EXPECT_EQ(default_visits("full", true), 3);
  EXPECT_EQ(default_visits("quick", true), 1) << "40 s have room for one";
  EXPECT_EQ(default_visits("default", false), 1) << "a GPU is its user's own";
}

TEST(DefaultSuite, HasTheBackwardTrioOfEqualWork) {
  for (const auto& device : {kCpu, kGpu}) {
    const auto groups = make("default", device);
    const auto trio = std::find_if(groups.begin(), groups.end(),
                                   [](const Group& g) { return g.cases.size() == 3; });
    ASSERT_NE(trio, groups.end());
    for (const roofline::Case& c : trio->cases) {
      EXPECT_EQ(cost(c).flops, cost(trio->cases[0]).flops);
    }
  }
}

TEST(DefaultSuite, HasTheSmallRowsOfTheClaims) {
  for (const auto& device : {kCpu, kGpu}) {
    std::set<std::string> names;
    for (const Group& g : make("default", device)) names.insert(g.name);
    const std::string layer = device.backend == "cpu" ? "1x2048x2048" : "1x16896x16384";
    for (const std::string_view type : {"fp32", "tf32", "fp16", "bf16", "fp8_e4m3"}) {
      EXPECT_TRUE(names.contains(fmt::format("gemm/{}/{}", type, layer))) << type;
    }
    EXPECT_TRUE(names.contains("relu/bf16/1048576"));
    EXPECT_TRUE(names.contains("gemm/bf16/1024x1024x1024"));
  }
}

TEST(DefaultSuite, SustainsTheLargestGemmOfEachTypeOnAGpu) {
  std::set<std::string> sustained;
  for (const Group& g : make("default", kGpu)) {
    if (!g.sustained) continue;
    EXPECT_TRUE(g.name.ends_with("/8192x8192x8192")) << g.name;
    sustained.insert(dtype_label(g.cases.front()));
  }
  EXPECT_EQ(sustained.size(), 8U) << "fp32, tf32, fp16, bf16, four pairs of FP8";
  for (const Group& g : make("default", kCpu)) EXPECT_FALSE(g.sustained) << g.name;
}

TEST(DefaultSuite, HasTheLecturesShapeOnAGpuWithOnesBesideNormalInputs) {
  for (const auto& [device, expected] : {std::pair{kGpu, 1}, std::pair{kCpu, 0}}) {
    int found = 0;
    for (const Group& g : make("default", device)) {
      if (g.name != "gemm/fp32/16384x8192x32768") continue;
      ++found;
      EXPECT_EQ(g.data, (std::vector{kernels::InputKind::normal, kernels::InputKind::ones}));
    }
    EXPECT_EQ(found, expected);
  }
}

TEST(Suites, RefuseAnUnknownNameWithTheKnownOnes) {
  try {
    make("quik", kCpu);
    ADD_FAILURE();
  } catch (const std::invalid_argument& e) {
    EXPECT_NE(std::string(e.what()).find("--suite=quik: expected quick"), std::string::npos);
  }
}

std::vector<std::string> names(const std::vector<Group>& groups) {
  std::vector<std::string> all;
  for (const Group& g : groups) {
    if (!g.measures_roof) all.push_back(g.name);
  }
  return all;
}

TEST(Select, KeepsTheRoofsAndWhatIsAskedFor) {
  const auto groups =
      select(make("quick", kCpu), {.ops = {Op::gelu}, .dtypes = {Dtype::bf16}}, kCpu);
  EXPECT_EQ(names(groups), std::vector<std::string>{"gelu/bf16/67108864"});
  EXPECT_GT(groups.size(), 1U);
}

TEST(Select, TakesAShapeForEachOpAndDtype) {
  const Request request{.ops = {Op::gemm, Op::relu}, .dtypes = {Dtype::tf32, Dtype::fp16}};
  auto with = [&](const char* shape, Op op) {
    Request r = request;
    r.ops = {op};
    r.shape = shape;
    return names(select(make("quick", kGpu), r, kGpu));
  };
  EXPECT_EQ(with("8x16x32", Op::gemm),
            (std::vector<std::string>{"gemm/tf32/8x16x32", "gemm/fp16/8x16x32"}));
  EXPECT_EQ(with("2x8x16x32", Op::gemm),
            (std::vector<std::string>{"gemm/tf32/2x8x16x32", "gemm/fp16/2x8x16x32"}));
  EXPECT_EQ(with("8x16x32", Op::mma),
            (std::vector<std::string>{"mma/tf32/8x16x32", "mma/fp16/8x16x32"}));
  EXPECT_EQ(with("1000", Op::relu), std::vector<std::string>{"relu/fp16/1000"});
}

TEST(Select, RefusesWhatDoesNotFit) {
  struct Row {
    const char* shape;
    Op op;
  };
  const Row rows[] = {
      {"", Op::relu},          {"0", Op::relu},
      {"-5", Op::relu},        {"1e6", Op::relu},
      {"8x8", Op::relu},       {"8", Op::gemv},
      {"8x", Op::gemv},        {"x8", Op::gemv},
      {"8x8", Op::gemm},       {"8X8X8", Op::gemm},
      {"8x8x8 ", Op::gemm},    {"8x0x8", Op::gemm},
      {"1x2x3x4", Op::mma},    {"8x8", Op::mma},
      {"1x2x3x4x5", Op::gemm}, {"99999999999999999999", Op::relu},
  };
  for (const Row& row : rows) {
    EXPECT_THROW(select(make("quick", kCpu), {.ops = {row.op}, .shape = row.shape}, kCpu),
                 std::invalid_argument)
        << row.shape;
  }
  EXPECT_THROW(select(make("quick", kCpu), {.shape = "8"}, kCpu), std::invalid_argument);
  EXPECT_THROW(select(make("quick", kCpu), {.ops = {Op::relu}, .dtypes = {Dtype::tf32}}, kCpu),
               std::invalid_argument);
}

}  // namespace
}  // namespace bench
