// The sampler sees runs that return seconds: when it stops, in what order it goes, what it keeps.
#include "bench/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <stdexcept>
#include <string>

#include "bench/fake_device.h"

namespace bench {
namespace {

const std::atomic<bool> kGoOn = false;

Series series_of(FakeDevice& device, int launches = 1) {
  return {.timed = device.timed([](int) {}, 1, launches)};
}

TEST(Sampler, ConstantTimesEndAfterTheFewestRounds) {
  FakeDevice device;
  Series group[] = {series_of(device)};
  sample(group, {.block_s = 0}, device, kGoOn);
  EXPECT_EQ(group[0].round_medians().at(0).size(), 6U);
  EXPECT_EQ(noise(group[0].round_medians()), 0);
}

TEST(Sampler, ReadsALaunchOfOneMillisecondForAnyBatch) {
  for (const int launches : {1, 7, 200}) {
    FakeDevice device;
    Series group[] = {series_of(device, launches)};
    sample(group, {}, device, kGoOn);
    for (const double t : group[0].times()) EXPECT_NEAR(t, 1e-3, 1e-12) << launches;
  }
}

TEST(Sampler, NoiseThatNeverSettlesEndsAtTheCap) {
  FakeDevice device;
  device.time_s = [](int i) { return i % 2 == 0 ? 1e-3 : 2e-3; };
  Series group[] = {series_of(device)};
  sample(group, {.max_rounds = 1 << 20, .block_s = 0, .cap_s = 1}, device, kGoOn);
  EXPECT_GT(noise(group[0].round_medians()), 0.005);
  EXPECT_NEAR(device.now_s(), 1, 0.01);
}

TEST(Sampler, ASlowRowEndsAtTheCapWithTheRoundsItHas) {
  FakeDevice device;
  device.time_s = [](int) { return 10.0; };
  Series group[] = {series_of(device)};
  sample(group, {.cap_s = 0.1}, device, kGoOn);
  EXPECT_EQ(group[0].samples.size(), 1U);
  EXPECT_TRUE(std::isinf(noise(group[0].round_medians()))) << "no interval from one round";
}

TEST(Sampler, GoesOnUntilThreeQuartersOfTheSamplesWereLeftAlone) {
  FakeDevice device;
  device.time_s = [&](int i) {
    device.says.held_up = i < 6 ? 1 : 0;
    return 1e-3;
  };
  Series group[] = {series_of(device)};
  sample(group, {.block_s = 0}, device, kGoOn);
  EXPECT_EQ(group[0].blocks.size(), 24U) << "6 of 24 are a quarter";
  device.time_s = [&](int) {
    device.says.held_up = 0.5;
    return 1e-3;
  };
  Series busy[] = {series_of(device)};
  sample(busy, {.block_s = 0, .cap_s = 0.1}, device, kGoOn);
  EXPECT_NEAR(static_cast<double>(busy[0].blocks.size()), 100, 1) << "until the cap";
  Series content[] = {series_of(device)};
  sample(content, {.block_s = 0, .max_noise = 1}, device, kGoOn);
  EXPECT_EQ(content[0].blocks.size(), 6U) << "with any noise";
}

TEST(Sampler, ConvergesOnNoisyButSteadyTimes) {
  FakeDevice device;
  std::mt19937 random(1);
  std::normal_distribution<double> normal(1e-3, 3e-5);  // 3 %
  device.time_s = [&](int) { return normal(random); };
  Series group[] = {series_of(device)};
  sample(group, {.block_s = 10e-3, .max_noise = 0.005, .cap_s = 100}, device, kGoOn);
  EXPECT_LE(noise(group[0].round_medians()), 0.005);
  EXPECT_GT(group[0].round_medians().at(0).size(), 6U);
  EXPECT_LT(device.now_s(), 100);
}

TEST(Sampler, TakesTurnsSoThatWhatDriftsDriftsForAll) {
  FakeDevice device;
  std::string order;
  const auto named = [&](char name) {
    return Series{.timed = {1, [&, name, inner = device.timed([](int) {}, 1, 1)] {
                              order += name;
                              return inner.run_s();
                            }}};
  };
  Series group[] = {named('a'), named('b'), named('c')};
  sample(group, {.min_rounds = 6, .block_s = 2e-3}, device, kGoOn);
  ASSERT_EQ(order.size(), 36U);
  std::set<std::string> orders;
  for (std::size_t round = 0; round < 36; round += 6) {
    std::string blocks = order.substr(round, 6);
    orders.insert(blocks);
    std::sort(blocks.begin(), blocks.end());
    EXPECT_EQ(blocks, "aabbcc") << "a block of two samples each";
    for (std::size_t i = round; i < round + 6; i += 2) EXPECT_EQ(order[i], order[i + 1]);
  }
  EXPECT_GT(orders.size(), 2U)
      << "in no fixed order, with which the scheduler's could fall in step";
}

TEST(Sampler, ABlockHoldsNoMoreSamplesThanItIsMeantFor) {
  FakeDevice device;
  device.time_s = [](int) { return 1e-6; };
  Series group[] = {series_of(device)};
  sample(group, {.min_rounds = 1, .sample_s = 200e-6, .block_s = 5e-3}, device, kGoOn);
  // 5 ms / 200 us a block, not 5000.
  EXPECT_EQ(group[0].samples.size(), 25 * group[0].round_medians().at(0).size());
}

TEST(Sampler, TimesThatAreNoTimesEndToo) {
  for (const double bad :
       {0.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    FakeDevice device;
    device.time_s = [bad](int) { return bad; };
    Series group[] = {series_of(device)};
    sample(group, {.cap_s = 0.1}, device, kGoOn);
    EXPECT_TRUE(std::isinf(noise(group[0].round_medians()))) << bad;
  }
}

TEST(Sampler, ARunThatThrowsEndsItsRowAlone) {
  FakeDevice device;
  Series failing = series_of(device);
  int runs = 0;
  failing.timed.run_s = [&] {
    if (++runs > 5) throw std::runtime_error("launch failed");  // three to settle, and two
    return 1e-3;
  };
  Series group[] = {failing, series_of(device)};
  settle(group, {}, device, kGoOn);
  sample(group, {.block_s = 0}, device, kGoOn);
  EXPECT_EQ(group[0].samples.size(), 2U);
  EXPECT_THROW(std::rethrow_exception(group[0].error), std::runtime_error);
  EXPECT_EQ(runs, 6) << "it is not tried again";
  EXPECT_FALSE(group[1].error);
  EXPECT_EQ(group[1].samples.size(), 6U) << "nor is it waited for";
  Series lost[] = {series_of(device)};
  device.time_s = [](int) -> double { throw DeviceLost("lost"); };
  EXPECT_THROW(sample(lost, {}, device, kGoOn), DeviceLost);
}

TEST(Sampler, InterruptedItKeepsWhatItHas) {
  FakeDevice device;
  std::atomic<bool> interrupted = false;
  device.time_s = [&](int i) {
    interrupted = i == 2;
    return 1e-3;
  };
  Series group[] = {series_of(device)};
  sample(group, {.block_s = 0}, device, interrupted);
  EXPECT_EQ(group[0].samples.size(), 3U);
}

TEST(Sampler, AVisitGoesOnWhereTheLastEndedAndStopsByItsOwnNoise) {
  FakeDevice device;
  const auto alternating = [](int i) { return i % 2 == 0 ? 1e-3 : 2e-3; };
  device.time_s = alternating;
  Series group[] = {series_of(device)};
  sample(group, {.max_rounds = 8, .block_s = 0}, device, kGoOn);
  device.time_s = [](int) { return 3e-3; };
  sample(group, {.max_rounds = 8, .block_s = 0}, device, kGoOn);
  const roofline::Visits visits = group[0].round_medians();
  ASSERT_EQ(visits.size(), 2U);
  EXPECT_EQ(visits[0].size(), 8U) << "noisy to the end";
  EXPECT_EQ(visits[1], std::vector<double>(6, 3e-3)) << "quiet, whatever the first was";
  EXPECT_EQ(group[0].samples.back().round, 13) << "rounds are counted through";
  EXPECT_EQ(group[0].blocks.size(), 14U);
  EXPECT_GT(noise(visits), 0.005) << "that of the noisiest visit";
  EXPECT_EQ(noise({visits[1]}), 0);
}

TEST(Settle, RunsUntilThreeRunsAgree) {
  FakeDevice device;  // a clock that climbs: 5, 4, 3, 2, 1, 1, 1 ms
  device.time_s = [](int i) { return std::max(5 - i, 1) * 1e-3; };
  Series group[] = {series_of(device)};
  settle(group, {}, device, kGoOn);
  EXPECT_EQ(device.launched, 7);
}

TEST(Settle, GivesUpAtItsCap) {
  FakeDevice device;
  device.time_s = [](int i) { return i % 2 == 0 ? 1e-3 : 2e-3; };
  Series group[] = {series_of(device)};
  settle(group, {.settle_s = 0.1}, device, kGoOn);
  EXPECT_NEAR(device.now_s(), 0.1, 0.003);
}

TEST(LaunchesFor, MakesASampleLongEnough) {
  EXPECT_EQ(launches_for(200e-6, 300e-6), 1);
  EXPECT_EQ(launches_for(200e-6, 200e-6), 1);
  EXPECT_EQ(launches_for(200e-6, 3e-6), 67);  // 66.7
  EXPECT_EQ(launches_for(200e-6, 1e-12), 10000);
  EXPECT_EQ(launches_for(200e-6, 0), 1);
  EXPECT_EQ(launches_for(200e-6, std::nan("")), 1);
}

TEST(HeldUp, IsTheShareOverAllBlocks) {
  const struct {
    std::vector<std::optional<double>> blocks;
    double share;
  } rows[] = {
      {{}, 0},
      {{std::nullopt, std::nullopt}, 0},      // a GPU's, whose host may wait
      {{0.0, 1.0, 0.0, 0.0}, 0.25},           // a slice, once, in blocks of one sample
      {{0.04, 0.04, 0.04, 0.04}, 0.04},       // one of 25 samples in each
      {{0.5, 0.5, 0.0, std::nullopt}, 0.25},  //
  };
  for (const auto& [blocks, share] : rows) {
    std::vector<Telemetry> said;
    for (const auto& b : blocks) said.push_back({.throttle_reasons = "", .held_up = b});
    EXPECT_DOUBLE_EQ(held_up(said), share) << blocks.size();
  }
}

TEST(HeldUp, IsThatOfTheVisitWhereItIsLargest) {
  FakeDevice device;
  Series group[] = {series_of(device)};
  for (const double share : {0.125, 1.0, 0.25}) {
    device.says.held_up = share;
    sample(group, {.max_rounds = share < 0.2 ? 100 : 8, .block_s = 0}, device, kGoOn);
    EXPECT_EQ(held_up(group[0]), std::max(share, held_up(group[0])));
  }
  EXPECT_EQ(held_up(group[0]), 1);
  EXPECT_EQ(group[0].round_medians().at(1).size(), 8U) << "to its end, for it was held up";
  EXPECT_EQ(group[0].round_medians().at(2).size(), 6U) << "whatever the last was";
}

TEST(Slowdown, IsThatOfTheLastThirdOverTheFirst) {
  const auto of = [](const std::vector<double>& rounds) {
    Series series;
    for (std::size_t i = 0; i < rounds.size(); ++i) {
      series.samples.push_back({0, static_cast<int>(i), rounds[i]});
    }
    return slowdown(series);
  };
  EXPECT_NEAR(of({1.0, 1.0, 1.1, 1.1, 1.2, 1.2}).value(), 0.2, 1e-12);
  EXPECT_FALSE(of({1.0, 1.0, 1.0, 1.0, 1.0, 1.2})) << "one round is no trend";
  EXPECT_FALSE(of({1.2, 1.2, 1.1, 1.1, 1.0, 1.0})) << "nor is a speed-up";
  EXPECT_FALSE(of({1.0, 2.0}));
  Series drifts;  // from visit to visit, of which the interval tells
  for (const int visit : {0, 1, 2}) {
    for (int round = 0; round < 3; ++round) {
      drifts.samples.push_back({visit, 3 * visit + round, 1.0 + visit});
    }
  }
  EXPECT_FALSE(slowdown(drifts));
}

}  // namespace
}  // namespace bench
