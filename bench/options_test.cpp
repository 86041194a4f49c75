// Bad input gets one line: what was given, what was expected.
#include "bench/options.h"

#include <gtest/gtest.h>

namespace bench {
namespace {

Options parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "roofline_bench");
  return *parse_options(static_cast<int>(arguments.size()), arguments.data());
}

TEST(Options, HaveTheDocumentedDefaults) {
  const Options o = parse({});
  EXPECT_EQ(o.device, "auto");
  EXPECT_EQ(o.suite, "quick");
  EXPECT_TRUE(o.request.is_empty());
  EXPECT_EQ(o.settings.caches, std::vector<std::string>{"cold"});
  EXPECT_EQ(o.settings.candidates, 1U);
  EXPECT_FALSE(o.settings.hard_budget);
}

TEST(Options, TakeListsAndBothSpellings) {
  const Options o =
      parse({"--op=relu,gemm", "--dtype", "fp32,bf16", "--cache=both", "--candidates=all",
             "--max-noise=1.5", "--time-budget", "12", "--shape=8x8x8", "--data=ones,normal",
             "--seed=7", "--impl=all", "--benchmark_filter=gemm"});
  EXPECT_EQ(o.request.ops, (std::vector{roofline::Op::relu, roofline::Op::gemm}));
  EXPECT_EQ(o.request.dtypes, (std::vector{roofline::Dtype::fp32, roofline::Dtype::bf16}));
  EXPECT_EQ(o.settings.caches, (std::vector<std::string>{"cold", "hot"}));
  EXPECT_DOUBLE_EQ(o.settings.protocol.max_noise, 0.015);
  EXPECT_DOUBLE_EQ(o.settings.budget_s, 12);
  EXPECT_TRUE(o.settings.hard_budget);
  EXPECT_EQ(o.settings.data, (std::vector{kernels::InputKind::ones, kernels::InputKind::normal}));
  EXPECT_EQ(o.settings.seed, 7U);
  EXPECT_EQ(o.settings.implementations.size(), implementations().size());
  EXPECT_EQ(o.benchmark_flags, std::vector<std::string>{"--benchmark_filter=gemm"});
}

TEST(Options, TakeWhatIsSaidTwiceOnce) {
  const Options o = parse({"--op=dot,relu,dot", "--dtype=fp32,fp32", "--data=normal,ones,normal",
                           "--impl=ours,all,ours"});
  EXPECT_EQ(o.request.ops, (std::vector{roofline::Op::dot, roofline::Op::relu}));
  EXPECT_EQ(o.request.dtypes, std::vector{roofline::Dtype::fp32});
  EXPECT_EQ(o.settings.data, (std::vector{kernels::InputKind::normal, kernels::InputKind::ones}));
}

struct BadRow {
  const char* argument;
  const char* part;  // of the message
};

const BadRow kBad[] = {
    {"--out=", "--out=: expected a value after =, got none"},
    {"--impl=,", "--impl=,: expected a value after =, got none"},
    {"--op=reluu", "--op=reluu: expected empty, read, write, copy"},
    {"--dtype=fp64", "--dtype=fp64: expected fp32, tf32"},
    {"--dtype=float", "--dtype=float: expected fp32, tf32"},
    {"--impl=mkl", "--impl=mkl: expected all, ours"},
    {"--bytes=1GiB?", "--bytes: expected"},
    {"--bytes=12", "--bytes=12: expected at least 65536"},
    {"--cache=warm", "--cache=warm: expected cold, hot or both"},
    {"--data=random", "--data=random: expected normal, uniform"},
    {"--candidates=0", "--candidates=0: expected a whole number from 1 up, below 2^63, or all"},
    {"--candidates=-1", "--candidates=-1: expected a whole number from 1 up"},
    {"--candidates=1.5", "--candidates=1.5: expected a whole number from 1 up"},
    {"--candidates=9223372036854775808", "expected a whole number from 1 up, below 2^63"},
    {"--candidates=some", "--candidates=some: expected a whole number from 1 up"},
    {"--visits=0", "--visits=0: expected a whole number from 1 up"},
    {"--visits=1001", "--visits=1001: at most 1000"},
    {"--visits=often", "--visits=often: expected a whole number from 1 up"},
    {"--max-noise=0", "--max-noise=0: expected percent, above 0"},
    {"--max-noise=nan", "--max-noise=nan: expected percent, above 0"},
    {"--time-budget=-3", "--time-budget=-3: expected a number of seconds above 0"},
    {"--time-budget=0", "--time-budget=0: expected a number of seconds above 0"},
    {"--time-budget=nan", "--time-budget=nan: expected a number of seconds above 0"},
    {"--time-budget=inf", "--time-budget=inf: expected a number of seconds above 0"},
    {"--time-budget=soon", "soon"},
    {"--tuning=/none", "--tuning: Path does not exist: /none"},
    {"--seed=x", "--seed=x: expected a whole number from 0 up"},
    {"--seed=-1", "--seed=-1: expected a whole number from 0 up"},
    {"--seed=18446744073709551615", "expected a whole number from 0 up, below 2^63"},
    {"--frobnicate", "--frobnicate"},
    {"stray", "stray"},
    {"--benchmark_min_time=2",
     "--benchmark_min_time=2: the sampling protocol decides that; use "
     "--time-budget=SECONDS"},
    {"--benchmark_repetitions=3", "use --max-noise=PERCENT"},
    {"--benchmark_enable_random_interleaving=true", "the rows of a group always take turns"},
    {"--benchmark_format=csv", "measurements.csv"},
    {"--benchmark_out_format=csv", "measurements.csv"},
    {"--benchmark_format=xml", "--benchmark_format=xml: expected one of"},
    {"--benchmark_frobnicate", "--benchmark_frobnicate: expected one of"},
};

TEST(Options, RefuseWithWhatWasGivenAndWhatWasExpected) {
  for (const BadRow& row : kBad) {
    try {
      parse({row.argument});
      ADD_FAILURE() << row.argument;
    } catch (const UsageError& e) {
      EXPECT_NE(std::string(e.what()).find(row.part), std::string::npos) << e.what();
      EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos) << e.what();
    }
  }
}

TEST(MakeDevice, RefusesOtherSpellings) {
  std::string notice;
  for (const char* choice : {"", "gpu", "cuda:", "cuda:abc", "cuda:-1", "cuda:1e9", "cuda:0x1",
                             "cuda:1 ", "CPU", "cuda:99999999999"}) {
    EXPECT_THROW(make_device(choice, notice), std::invalid_argument) << choice;
  }
  EXPECT_EQ(make_device("cpu", notice)->facts().backend, "cpu");
}

}  // namespace
}  // namespace bench
