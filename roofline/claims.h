// The claims of the lecture that this project grew from (Stanford CS336, spring 2026, lecture 2),
// and what arithmetic, a device's data sheet and a run say to each of them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "roofline/dtype.h"
#include "roofline/ridge_fit.h"
#include "roofline/run.h"

namespace roofline {

enum class Verdict { holds, fails, on_paper_only, not_applicable, unknown };
std::string_view name(Verdict verdict);

/// What a claim is held against. Kept apart: a number may follow and yet not be this device's, or
/// be its data sheet's and yet not be reached.
enum class Basis {
  arithmetic,  // does the number follow, to the digits given
  device,      // the same quantity by this device's roofs: the data sheet's, where it has one
  measured,    // by this run
};
std::string_view name(Basis basis);

/// What a verdict can be expected on: the lecture speaks of the first.
enum class DeviceClass { h100_sxm, other_gpu, cpu };
DeviceClass device_class(const Run& run);

/// A claim, on one basis and for one type, with its verdict: one row of claims.csv.
struct Finding {
  std::string_view id;
  Basis basis;
  std::optional<Dtype> dtype;
  std::string_view sentence, source, said, formula;
  std::optional<double> model;       // what the formula gives
  std::optional<double> measured;    // or, on the basis `device`, looked up
  std::optional<Interval> interval;  // 95 %, of what was measured
  std::string rows;                  // that `measured` rests on
  Verdict verdict;
  std::optional<Verdict> expected;  // empty where none is recorded
  std::string reason;
};

/// Whether the verdict is another than the recorded one; `unknown` never is.
bool is_unexpected(const Finding& finding);

/// The arithmetic, which needs no run.
std::vector<Finding> judge_arithmetic();

/// All claims. `run` has its rounds, and `ridges` are its fits.
std::vector<Finding> judge(const Run& run, const RidgeFits& ridges);

/// The texts of claims.csv and claims.md.
std::string claims_csv(std::span<const Finding> findings);
std::string claims_markdown(std::span<const Finding> findings, const Run& run);

/// FLOPs and bytes as the lecture counts them: 2n - 1 FLOPs for n multiply-adds, each output in
/// the input's type.
double lecture_intensity(const Case& c);

}  // namespace roofline
