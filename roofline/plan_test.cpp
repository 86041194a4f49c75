// Properties of the planner's formulas, and anchors worked out by hand.
#include "roofline/plan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

namespace roofline {
namespace {

constexpr FlopsPerS kH100{989.5e12};
constexpr Sharding kShardings[] = {Sharding::ddp, Sharding::zero1, Sharding::zero2,
                                   Sharding::zero3};
const Architecture kGpt3{.family = find_family("gpt2"),
                         .layers = 96,
                         .hidden = 12288,
                         .heads = 96,
                         .vocab = 51200,
                         .positions = 2048};

TEST(Plan, SixNDIsTheSumOfItsAddends) {
  const Parameters p = count_parameters(with_defaults(kGpt3));
  for (const Recompute r : {Recompute::none, Recompute::full}) {
    EXPECT_DOUBLE_EQ(model_flops(forward_work(p, Counted::all, r), 1e9).value,
                     model_flops(forward_work(p.total(), r), 1e9).value);
    EXPECT_DOUBLE_EQ(hardware_flops(forward_work(p, Counted::all, r), 1e9).value,
                     hardware_flops(forward_work(p.total(), r), 1e9).value);
  }
}

// 72 D L h^2 (1 + s / 6h + V / 12Lh), Narayanan et al. 2021; with recompute 96 (.. V / 16Lh).
TEST(Plan, GemmCountIsMegatronsClosedForm) {
  const double L = 96, h = 12288, s = 2048, V = 51200, D = 300e9;
  const Parameters p = count_parameters(with_defaults(kGpt3));
  const double attention = attention_flops_per_token(AttentionFlops::full, 96, 12288, 2048);
  const auto work = [&](Recompute recompute) {
    std::vector<Work> all = forward_work(p, Counted::gemm, recompute);
    for (const Work& w : attention_work(attention, recompute, SelectiveCount::strict)) {
      all.push_back(w);
    }
    return all;
  };
  EXPECT_NEAR(model_flops(work(Recompute::none), D).value /
                  (72 * D * L * h * h * (1 + s / (6 * h) + V / (12 * L * h))),
              1, 1e-12);
  EXPECT_NEAR(hardware_flops(work(Recompute::full), D).value /
                  (96 * D * L * h * h * (1 + s / (6 * h) + V / (16 * L * h))),
              1, 1e-12);
}

TEST(Plan, EveryAddendOfTheForwardPassGrowsTheWork) {
  const double none = attention_flops_per_token(AttentionFlops::none, 32, 4096, 2048);
  const double causal = attention_flops_per_token(AttentionFlops::causal, 32, 4096, 2048);
  const double full = attention_flops_per_token(AttentionFlops::full, 32, 4096, 2048);
  EXPECT_EQ(none, 0);
  EXPECT_EQ(causal, 4096.0 * 2 * 32 * 2048);
  EXPECT_EQ(full, 2 * causal);
  EXPECT_LT(attention_flops_per_token(AttentionFlops::full, 32, 4096, 2047), full);
}

TEST(Plan, TimeIsMonotone) {
  const auto time = [](double flops, double gpus, double peak, double mfu) {
    return training_time(Flops{flops}, gpus, FlopsPerS{peak}, mfu);
  };
  const Seconds at = time(6e24, 1024, 1e15, 0.5);
  EXPECT_GT(time(6.1e24, 1024, 1e15, 0.5), at);
  EXPECT_LT(time(6e24, 1025, 1e15, 0.5), at);
  EXPECT_LT(time(6e24, 1024, 1.1e15, 0.5), at);
  EXPECT_LT(time(6e24, 1024, 1e15, 0.51), at);
}

TEST(Plan, InversesOfTimeInvertIt) {
  for (const double gpus : {1.0, 8.0, 1000.0, 1024.0}) {
    for (const double mfu : {0.01, 0.3, 1.0}) {
      const Flops work{6.3e24};
      const Seconds time = training_time(work, gpus, kH100, mfu);
      EXPECT_NEAR(flops_within(time, gpus, kH100, mfu).value / work.value, 1, 1e-12);
      EXPECT_NEAR(utilisation(work, time, gpus, kH100), mfu, 1e-12);
      EXPECT_NEAR(gpus_for(work, time, kH100, mfu), gpus, 1);  // rounded up
      EXPECT_EQ(gpus_for(work, 1.00001 * time, kH100, mfu), gpus);
      if (gpus > 1) {
        EXPECT_GT(training_time(work, gpus_for(work, 1.00001 * time, kH100, mfu) - 1, kH100, mfu),
                  1.00001 * time);
      }
    }
  }
}

TEST(Plan, ShardingOnOneGpuIsDdp) {
  const Ledger ledger{2, 4, 4, 4, 8};
  for (const Sharding sharding : kShardings) {
    EXPECT_EQ(per_gpu(ledger, sharding, 1), ledger);
    EXPECT_EQ(largest_model(Bytes{80e9}, ledger, sharding, 1), std::floor(80e9 / 22));
  }
}

TEST(Plan, EachZeroStageNeedsLess) {
  const Ledger ledger{2, 2, 0, 4, 8};
  for (std::size_t i = 1; i < std::size(kShardings); ++i) {
    EXPECT_LT(per_gpu(ledger, kShardings[i], 64).total(),
              per_gpu(ledger, kShardings[i - 1], 64).total());
    EXPECT_GT(largest_model(Bytes{80e9}, ledger, kShardings[i], 64),
              largest_model(Bytes{80e9}, ledger, kShardings[i - 1], 64));
  }
}

TEST(Plan, TheLargestModelFitsAndOneMoreDoesNot) {
  const Ledger ledger{2, 2, 4, 4, 8};
  for (const Sharding sharding : kShardings) {
    for (const std::int64_t gpus : {1, 3, 7, 8, 1000}) {
      const double largest = largest_model(Bytes{80e9}, ledger, sharding, gpus);
      const double bytes = per_gpu(ledger, sharding, gpus).total();
      EXPECT_LE(largest * bytes, 80e9 * (1 + 1e-15));
      EXPECT_GT((largest + 1) * bytes, 80e9);
    }
  }
  EXPECT_EQ(largest_model(Bytes{-1}, ledger, Sharding::ddp, 1), 0);
}

TEST(Plan, UnitLayersAreTheLectures) {
  const LayerActivations unit = mlp_layer(1, 1, 1);
  EXPECT_EQ(peak_storing_all(unit, 16).total().value, 16);
  EXPECT_EQ(peak_in_groups(unit, 16, 4).total().value, 8);
  EXPECT_EQ(peak_in_groups(unit, 64, sqrt_group(64)).total().value, 16);
  EXPECT_EQ(peak_in_groups(unit, 100, sqrt_group(100)).total().value, 20);
  EXPECT_EQ(forwards_storing_nothing(16), 120);
  EXPECT_EQ(forwards_storing_nothing(64), 2016);
  EXPECT_EQ(forwards_storing_nothing(100), 4950);
  for (std::int64_t layers : {4, 16, 64, 100})
    EXPECT_EQ(best_group(unit, layers), sqrt_group(layers));
}

TEST(Plan, ActivationsOfALayerAreKorthikantis) {
  const LayerActivations gpt3 = transformer_layer(1, 2048, 12288, 96, 2, false);
  EXPECT_EQ(gpt3.input.value, 50'331'648);
  EXPECT_EQ(gpt3.linear.value, 855'638'016);
  EXPECT_EQ(gpt3.total().value, 2'868'903'936);
  EXPECT_EQ(transformer_layer(1, 2048, 12288, 96, 2, true).total().value, 855'638'016);
}

TEST(Plan, ActivationsAreMonotone) {
  const auto bytes = [](double b, double s, double h, double a, double c) {
    return transformer_layer(b, s, h, a, c, false).total();
  };
  const Bytes at = bytes(2, 128, 512, 8, 2);
  EXPECT_GT(bytes(3, 128, 512, 8, 2), at);
  EXPECT_GT(bytes(2, 129, 512, 8, 2), at);
  EXPECT_GT(bytes(2, 128, 513, 8, 2), at);
  EXPECT_GT(bytes(2, 128, 512, 9, 2), at);
  EXPECT_GT(bytes(2, 128, 512, 8, 4), at);
}

TEST(Plan, TheBestGroupHasTheLeastPeak) {
  const LayerActivations layer = transformer_layer(1, 2048, 12288, 96, 2, true);
  for (const std::int64_t layers : {1, 2, 17, 96}) {
    const std::int64_t best = best_group(layer, layers);
    for (std::int64_t k = 1; k <= layers; ++k) {
      EXPECT_LE(peak_in_groups(layer, layers, best).total(),
                peak_in_groups(layer, layers, k).total());
    }
  }
}

TEST(Plan, StepsToAccumulateAreWhole) {
  EXPECT_EQ(accumulation_steps(64, 16, 1), 4);
  EXPECT_EQ(accumulation_steps(64, 1, 8), 8);
  EXPECT_THROW(accumulation_steps(64, 3, 1), std::invalid_argument);
  EXPECT_THROW(accumulation_steps(8, 8, 2), std::invalid_argument);
  EXPECT_THROW(accumulation_steps(8, INT64_MAX, INT64_MAX), std::invalid_argument);
}

TEST(Plan, AStepOfDecodingIsItsCacheAndTheLongerOfTheOthers) {
  const BytesPerS W{2e12};
  const auto step = [&](double batch, double context) {
    return decode_step(batch, Bytes{context * 1e5}, Bytes{14e9}, 7e9, FlopsPerS{4e14}, W);
  };
  // 1 x 1000 x 1e5 / 2e12 = 0.05 ms; 14e9 / 2e12 = 7 ms; 2 x 7e9 / 4e14 = 0.035 ms.
  EXPECT_DOUBLE_EQ(step(1, 1000).total().value, 0.00705);
  // At batch 400: 20 ms; 7 ms; 14 ms.
  EXPECT_DOUBLE_EQ(step(400, 1000).total().value, 0.034);
  EXPECT_GT(step(2, 1000).total(), step(1, 1000).total());
  EXPECT_GT(step(1, 1001).total(), step(1, 1000).total());
}

TEST(Plan, MultiplyingTakesAsLongAsReadingAtTheCrossover) {
  const double batch = compute_bound_batch(kH100, BytesPerS{3.35e12}, 2);
  EXPECT_NEAR(batch, 295.3731343, 1e-7);
  const DecodeStep step =
      decode_step(batch, Bytes{}, Bytes{140e9}, 70e9, kH100, BytesPerS{3.35e12});
  EXPECT_DOUBLE_EQ(step.weights.value, step.multiply.value);
}

TEST(Plan, BandwidthUtilisationIsThatOfTheBytesMoved) {
  EXPECT_DOUBLE_EQ(bandwidth_utilisation(Bytes{14e9}, Seconds{0.014}, BytesPerS{2e12}), 0.5);
}

}  // namespace
}  // namespace roofline
