// The fit against lines known exactly, and against simulated machines whose ridge is known.
#include "roofline/ridge_fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace roofline {
namespace {

TEST(Hinge, FindsLinesWithoutNoiseExactly) {
  std::vector<double> x, y;
  for (int i = 0; i < 10; ++i) {
    x.push_back(i);
    y.push_back(7 + 1.5 * std::min(i - 4.3, 0.0));
  }
  const auto hinge = fit_hinge(x, y);
  ASSERT_TRUE(hinge);
  EXPECT_NEAR(hinge->knee, 4.3, 1e-6);
  EXPECT_NEAR(hinge->plateau, 7, 1e-6);
  EXPECT_NEAR(hinge->slope, 1.5, 1e-6);
  EXPECT_NEAR(hinge->knee_interval.high - hinge->knee_interval.low, 0, 1e-4);
}

TEST(Hinge, RefusesWhatDoesNotRiseAndStay) {
  const std::vector<double> x = {0, 1, 2, 3, 4, 5};
  EXPECT_FALSE(fit_hinge(x, std::vector<double>{0, 1, 2, 3, 4, 5}));  // rises for ever
  EXPECT_FALSE(fit_hinge(x, std::vector<double>{9, 8, 7, 6, 5, 5}));  // falls
  EXPECT_FALSE(fit_hinge(x, std::vector<double>{3, 3, 3, 3, 3, 3}));  // nothing to fit
  EXPECT_FALSE(fit_hinge(std::vector<double>{0, 1, 2, 3}, std::vector<double>{0, 1, 2, 2}));
}

/// A machine that we made up: what a GEMM takes on it is known.
struct Machine {
  double peak, bandwidth, launch_s;
  std::int64_t sms, tile_m, tile_n;

  double seconds(const Case& c) const {
    const auto up = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
    const std::int64_t tiles = up(c.m, tile_m) * up(c.n, tile_n);
    const double wave_s =
        2.0 * static_cast<double>(tile_m * tile_n * c.k) / (peak / static_cast<double>(sms));
    return launch_s + std::max(cost(c).bytes().value / bandwidth,
                               static_cast<double>(up(tiles, sms)) * wave_s);
  }
};

Run simulate(const Machine& machine, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> noise(0, 0.03);
  Run run;
  for (const std::int64_t m : {1, 16, 64, 128, 192, 256, 320, 384, 512, 768, 1024, 2048, 4096}) {
    Record r{.what = make_case(Op::gemm, Dtype::bf16, m, 16896, 16384),
             .implementation = "cublaslt",
             .cache = "cold",
             .data = "normal"};
    std::vector<double> rounds;
    for (int i = 0; i < 6; ++i) {
      rounds.push_back(machine.seconds(r.what) * std::exp(noise(random)));
    }
    r.time_median_s = median(rounds);
    r.achieved_flops_per_s = cost(r.what).flops.value / *r.time_median_s;
    run.records.push_back(r);
  }
  return run;
}

/// A simulation, not a measurement: it shows that the fit finds a knee that is there.
TEST(RidgeFit, GivesBackTheKneeOfASimulatedMachine) {
  struct Row {
    Machine machine;
    double ridge;  // peak / bandwidth
    int near;      // of 100 seeds, at least so many within 3 %
  };
  const Row rows[] = {
      {{989.5e12, 3.35e12, 1e-6, 132, 64, 128}, 295.373, 95},
      {{600e12, 3e12, 1e-6, 132, 64, 128}, 200, 90},
      {{240e12, 2e12, 1e-6, 132, 64, 128}, 120, 85},
      // Tiles of 128 rows: M = 64, 192 and 320 cost a wave too many: 2 % too low.
      {{989.5e12, 3.35e12, 1e-6, 132, 128, 128}, 295.373, 65},
  };
  for (const Row& row : rows) {
    std::vector<double> knees;
    int near = 0, covered = 0;
    constexpr int kSeeds = 100;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      const RidgeFits found = fit_ridges(simulate(row.machine, seed));
      ASSERT_EQ(found.fits.size(), 1u) << "seed " << seed;
      const RidgeFit& fit = found.fits.front();
      knees.push_back(fit.knee_intensity_flops_per_byte);
      near += std::fabs(knees.back() / row.ridge - 1) <= 0.03;
      covered += fit.knee_intensity_interval.low <= row.ridge &&
                 row.ridge <= fit.knee_intensity_interval.high;
      // M N K 2 / (2 (M K + K N + M N)) at the knee.
      const double m = fit.knee_m, n = 16896, k = 16384;
      EXPECT_NEAR(m * n * k / (m * k + k * n + m * n) / knees.back(), 1, 1e-9);
      EXPECT_NEAR(fit.plateau_flops_per_s / row.machine.peak, 1, 0.05) << "seed " << seed;
    }
    SCOPED_TRACE(row.ridge);
    EXPECT_NEAR(median(knees) / row.ridge, 1, 0.03);
    EXPECT_GE(near, row.near);
    EXPECT_GE(covered, 88) << "of 100, nominally 95";
  }
}

TEST(RidgeFit, FitsFullAndFastAccumulationEachByItself) {
  const auto fp8 = [](double peak, bool fast) {
    roofline::Run run = simulate({peak, 3e12, 1e-6, 132, 64, 128}, 1);
    for (Record& r : run.records) {
      r.what.a = r.what.b = Dtype::fp8_e4m3;
      r.fast_accumulation = fast;
    }
    return run;
  };
  roofline::Run run = fp8(900e12, true);
  const roofline::Run full = fp8(600e12, false);
  const RidgeFit fast_alone = fit_ridges(run).fits.front();
  const RidgeFit full_alone = fit_ridges(full).fits.front();
  EXPECT_GT(fast_alone.knee_m, 1.3 * full_alone.knee_m);
  run.records.insert(run.records.end(), full.records.begin(), full.records.end());
  run.records.back().status = Status::failed;  // M = 4096: else the same rows at every M
  const RidgeFits both = fit_ridges(run);
  ASSERT_EQ(both.fits.size(), 2U);
  EXPECT_EQ(both.fits[0].fast_accumulation, false);  // first: the one that claims are judged by
  EXPECT_EQ(both.fits[0].points, 12);
  EXPECT_EQ(both.fits[1].fast_accumulation, true);
  EXPECT_EQ(both.fits[1].knee_m, fast_alone.knee_m);
  EXPECT_NE(ridge_csv(both.fits).find("\nfp8_e4m3,cublaslt,true,16896,"), std::string::npos);

  run.records.back().status = Status::above_roof;
  const RidgeFits one = fit_ridges(run);
  ASSERT_EQ(one.notes.size(), 1U);
  EXPECT_EQ(one.notes[0],
            "gemm/fp8_e4m3 M x 16896 x 16384 by cublaslt, full accumulation: a row is above_roof, "
            "not fitted");
}

TEST(RidgeFit, NamesTheWavesOfTheRowsTiles) {
  roofline::Run run = simulate({989.5e12, 3.35e12, 1e-6, 132, 64, 128}, 1);
  run.records[0].note = "algorithm 66, tile 128x64, split-K 1, stages 64x4";   // M = 1
  run.records[6].note = "algorithm 66, tile 256x128, split-K 1, stages 64x4";  // M = 320
  EXPECT_EQ(fit_ridges(run).fits.front().waves, "") << "on unknown processors";
  run.environment["device/processors"] = "132";
  // 132 x 1 tiles; 66 x 3.
  EXPECT_EQ(fit_ridges(run).fits.front().waves, "M 1: 1.00 of 128x64, M 320: 1.50 of 256x128");
}

TEST(RidgeFit, ARowAboveItsRoofSpoilsItsSweep) {
  roofline::Run run = simulate({989.5e12, 3.35e12, 1e-6, 132, 64, 128}, 1);
  run.records[3].status = Status::above_roof;
  const RidgeFits found = fit_ridges(run);
  EXPECT_TRUE(found.fits.empty());
  ASSERT_EQ(found.notes.size(), 1u);
  EXPECT_EQ(found.notes[0],
            "gemm/bf16 M x 16896 x 16384 by cublaslt: a row is above_roof, not fitted");
}

TEST(RidgeFit, TakesTheFastestRowAtEachM) {
  roofline::Run run = simulate({989.5e12, 3.35e12, 1e-6, 132, 64, 128}, 1);
  const double knee = fit_ridges(run).fits.front().knee_m;
  for (std::size_t i = 0; i < 13; ++i) {
    run.records.push_back(run.records[i]);
    run.records.back().achieved_flops_per_s = *run.records[i].achieved_flops_per_s / 2;
  }
  EXPECT_EQ(fit_ridges(run).fits.front().knee_m, knee);
  EXPECT_EQ(fit_ridges(run).fits.front().points, 13);
}

}  // namespace
}  // namespace roofline
