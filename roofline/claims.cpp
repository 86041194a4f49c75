#include "roofline/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "roofline/csv.h"
#include "roofline/evidence.h"
#include "roofline/plan.h"
#include "roofline/spec.h"

namespace roofline {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::array<std::string_view, 5> kVerdicts = {"holds", "fails", "on_paper_only",
                                                       "not_applicable", "unknown"};
constexpr std::array<std::string_view, 3> kBases = {"arithmetic", "device", "measured"};

/// When a claim holds: for values from `low` to `high`.
struct Rule {
  double low, high;
  bool of_model = false;             // the limits are multiples of what the model computes
  Verdict outside = Verdict::fails;  // on_paper_only: the arithmetic is right all the same
  bool h100_only = false;            // its number is this product's; elsewhere not_applicable
  bool judged = true;                // false: printed, not_applicable
};

/// The number as printed, its last digit worth `digit`, rounded.
constexpr Rule printed(double said, double digit) { return {said - digit / 2, said + digit / 2}; }
constexpr Rule within(double said, double share) {
  return {said * (1 - share), said * (1 + share)};
}
constexpr Rule at_least(double least) { return {least, kInfinity}; }
constexpr Rule at_most(double most) { return {-kInfinity, most}; }
constexpr Rule of_model(double share) { return {1 - share, 1 + share, true}; }
constexpr Rule not_judged() { return {0, 0, false, Verdict::fails, false, false}; }
constexpr Rule h100_only(Rule rule) {
  rule.h100_only = true;
  return rule;
}
constexpr Rule else_on_paper(Rule rule) {
  rule.outside = Verdict::on_paper_only;
  return rule;
}

/// The verdicts that we expect, by DeviceClass; empty where we do not know.
using Expected = std::array<std::optional<Verdict>, 3>;
constexpr Expected everywhere(Verdict v) { return {v, v, v}; }
constexpr Expected on_h100(Verdict v) { return {v, std::nullopt, std::nullopt}; }
constexpr Expected only_on_h100(Verdict v) {
  return {v, Verdict::not_applicable, Verdict::not_applicable};
}

struct Subject {
  const Run& run;
  const RidgeFits& ridges;
};

struct Claim {
  std::string_view id;
  Basis basis;
  std::string_view sentence, source, said;
  std::span<const Dtype> types;  // one finding each; empty: of no type, or bf16 in the formula
  std::string_view formula;
  double (*model)(Dtype);                    // null: there is no number to compute
  Evidence (*query)(const Subject&, Dtype);  // null for arithmetic
  Rule rule;
  Expected expected;
  std::string_view reason;
};

// ---- what the models need
// ------------------------------------------------------------------------

const Spec& h100() { return *find_spec("h100-sxm"); }

double h100_ridge(Dtype t) { return *paper_ridge(roofs_of(h100()), t).value; }

/// Of the tensor cores, if they ran at the clock of the CUDA cores.
double h100_ridge_at_boost() {
  for (const Peak& p : peaks_of(h100())) {
    if (p.name == "tensor_bf16") {
      return derived_peak(h100().sms, p.flops_per_clock, h100().core_mhz).value /
             (h100().tb_per_s.value * 1e12);
    }
  }
  return 0;
}

// The lecture's sizes.
constexpr std::int64_t kMi = 1 << 20;
Case relu(Dtype t) { return make_case(Op::relu, t, 1, kMi, 1); }
Case gelu(Dtype t) { return make_case(Op::gelu, t, 1, kMi, 1); }
Case dot(Dtype t) { return make_case(Op::dot, t, 1, kMi, 1); }
Case gemv(Dtype t) { return make_case(Op::gemv, t, 1024, 1024, 1); }
Case gemm(Dtype t) { return make_case(Op::gemm, t, 1024, 1024, 1024); }
Case gemm_of_mfu() { return make_case(Op::gemm, Dtype::fp32, 16384, 8192, 32768); }

double ideal_mfu(const Case& c) {
  return std::min(1.0, lecture_intensity(c) / h100_ridge(Dtype::bf16));
}

double round_trip(Dtype t, double value) { return decode(t, encode(t, value)); }

/// How many of 0, .5, 1, 1.5, 2, 3, 4, 6 are the values of the eight codes from 0 up.
double e2m1_values() {
  constexpr double kValues[] = {0, .5, 1, 1.5, 2, 3, 4, 6};
  double equal = 0;
  for (std::uint64_t code = 0; code < 8; ++code) {
    equal += decode(Dtype::nvfp4, code) == kValues[code] ? 1 : 0;
  }
  return equal;
}

/// FLOPs of a layer's forward GEMM and its two gradients, B = 1024 and D = 256.
constexpr double kB = 1024, kD = 256;
double forward() { return cost(make_case(Op::gemm, Dtype::bf16, 1024, 256, 256)).flops.value; }
double backward() {
  return cost(make_case(Op::gemm, Dtype::bf16, 1024, 256, 256)).flops.value +
         cost(make_case(Op::gemm, Dtype::bf16, 256, 256, 1024)).flops.value;
}
/// All layers, forward and backward; the first needs no gradient of its input.
double training_step(double layers) { return layers * (forward() + backward()) - forward(); }

// ---- and the queries
// -----------------------------------------------------------------------------

/// What the value is of the same quantity by the data sheet, if that is known.
Evidence beside_paper(Evidence evidence, const Run& run, Dtype t) {
  if (const Evidence paper = paper_ridge(run.roofs, t); paper.value && evidence.value) {
    evidence.remark +=
        fmt::format("{}{:.1f} % of the {:.4g} on paper", evidence.remark.empty() ? "" : "; ",
                    100 * *evidence.value / *paper.value, *paper.value);
  }
  return evidence;
}

Evidence knee(const Subject& s, Dtype t) {
  for (const RidgeFit& f : s.ridges.fits) {
    if (f.dtype != name(t)) continue;
    Evidence evidence{
        .value = f.knee_intensity_flops_per_byte,
        .interval = f.knee_intensity_interval,
        .rows = fmt::format("gemm/{}/{}..{}x{}x{} {}, {} rows", f.dtype, f.m_first, f.m_last, f.n,
                            f.k, multiplied_by(f.implementation, f.fast_accumulation), f.points),
        .remark =
            fmt::format("knee at M = {:.4g} [{:.4g}, {:.4g}], plateau {:.4g} [{:.4g}, "
                        "{:.4g}] FLOP/s",
                        f.knee_m, f.knee_m_interval.low, f.knee_m_interval.high,
                        f.plateau_flops_per_s, f.plateau_interval.low, f.plateau_interval.high)};
    evidence = beside_paper(std::move(evidence), s.run, t);
    if (!f.waves.empty()) evidence.remark += "; waves of tiles: " + f.waves;
    return evidence;
  }
  for (const std::string& note : s.ridges.notes) {
    if (note.starts_with(fmt::format("gemm/{} ", name(t)))) return {.remark = note};
  }
  return {.remark = fmt::format("lacks rows: no sweep of M in {}; roofline_bench --suite=ridge",
                                name(t))};
}

Evidence mfu_079(const Subject& s, std::string_view data) {
  Evidence evidence = share_of_peak(s.run, gemm_of_mfu(), data, FlopsPerS{67.5e12});
  if (evidence.value) {
    evidence.remark = fmt::format("{:.4g} of 132 SM x 256 FLOP/clk x 1980 MHz = 66.91e12",
                                  *evidence.value * 67.5e12 / derived_peak(132, 256, 1980).value);
  }
  return evidence;
}

Evidence card_memory(const Run& run) {
  Evidence evidence = device_memory(run);
  if (evidence.value) {
    evidence.remark =
        fmt::format("8 of it hold {:.4g} parameters at 12 bytes",
                    largest_model(Bytes{*evidence.value}, Ledger{}, Sharding::zero3, 8));
  }
  return evidence;
}

// ---- the table
// -----------------------------------------------------------------------------------

constexpr Dtype kBf16[] = {Dtype::bf16};
constexpr Dtype kFp32[] = {Dtype::fp32};
constexpr Dtype kStored[] = {Dtype::fp32, Dtype::fp16, Dtype::bf16, Dtype::fp8_e4m3,
                             Dtype::fp8_e5m2};
constexpr Dtype kMultiplied[] = {Dtype::fp32, Dtype::tf32, Dtype::fp16, Dtype::bf16,
                                 Dtype::fp8_e4m3};
constexpr std::span<const Dtype> kNoType;

constexpr Basis kArithmetic = Basis::arithmetic, kDevice = Basis::device,
                kMeasured = Basis::measured;
constexpr Verdict kHolds = Verdict::holds, kFails = Verdict::fails;
constexpr Verdict kPaper = Verdict::on_paper_only, kNone = Verdict::not_applicable;
constexpr std::string_view kLecture = "CS336 2026, lecture 2";
constexpr std::string_view kOurs = "follows from it";

// To add a claim: its entry. What it computes is a lambda of the type; what it asks of a run is a
// function of evidence.h.
// clang-format off
constexpr Claim kClaims[] = {
    // The ridge.
    {"ridge", kArithmetic, "an H100 needs 295 FLOPs per byte", kLecture, "295", kBf16, "989.5e12 / 3.35e12",
     [](Dtype t) { return h100_ridge(t); }, nullptr, within(295, 0.005), everywhere(kHolds),
     "dense, the tensor cores at 1830 MHz, the data sheet's bandwidth"},
    {"ridge-at-boost", kArithmetic, "the common mistake: the tensor cores at the CUDA cores' clock, 1980 MHz", kOurs, "319", kBf16,
     "132 x 4096 x 1980e6 / 3.35e12", [](Dtype) { return h100_ridge_at_boost(); }, nullptr, within(319, 0.005), everywhere(kHolds),
     "the attribute's clock, not the one that the data sheet's tensor peak assumes"},
    {"ridge", kDevice, "this device needs 295 FLOPs per byte, and as many in each type as an H100", kLecture, "295 (bf16)", kMultiplied,
     "peak / bandwidth of h100-sxm", [](Dtype t) { return h100_ridge(t); },
     [](const Subject& s, Dtype t) { return paper_ridge(s.run.roofs, t); }, h100_only(of_model(0.005)), only_on_h100(kHolds),
     "each product and each type has a ridge of its own"},
    {"ridge-measured", kMeasured, "best GEMM over best stream", kOurs, "", kMultiplied, "peak / bandwidth of h100-sxm",
     [](Dtype t) { return h100_ridge(t); },
     [](const Subject& s, Dtype t) { return beside_paper(measured_ridge(s.run, t), s.run, t); }, not_judged(), everywhere(kNone),
     "printed, not judged: the claim is about the data sheet"},
    {"ridge-knee", kMeasured, "where a GEMM that grows from decode to prefill stops to follow the bandwidth", kOurs, "", kMultiplied,
     "peak / bandwidth of h100-sxm", [](Dtype t) { return h100_ridge(t); }, knee, not_judged(), everywhere(kNone),
     "printed, not judged: the claim is about the data sheet"},

    // Intensities.
    {"intensity-relu", kArithmetic, "ReLU: 0.25 FLOP/byte", kLecture, "0.25", kBf16, "n / 4n",
     [](Dtype t) { return lecture_intensity(relu(t)); }, nullptr, printed(0.25, 0.01), everywhere(kHolds), ""},
    {"intensity-gelu", kArithmetic, "GeLU: 5 FLOP/byte", kLecture, "5.0", kBf16, "20n / 4n",
     [](Dtype t) { return lecture_intensity(gelu(t)); }, nullptr, printed(5, 0.1), everywhere(kHolds), "20 FLOPs are a decree"},
    {"intensity-dot", kArithmetic, "dot: 0.5 FLOP/byte", kLecture, "0.5", kBf16, "(2n - 1) / (4n + 2), n = 2^20",
     [](Dtype t) { return lecture_intensity(dot(t)); }, nullptr, printed(0.5, 0.1), everywhere(kHolds), ""},
    {"intensity-gemv", kArithmetic, "GEMV: about 1 FLOP/byte", kLecture, "1.0", kBf16, "n (2n - 1) / (2n^2 + 4n), n = 1024",
     [](Dtype t) { return lecture_intensity(gemv(t)); }, nullptr, printed(1, 0.1), everywhere(kHolds), ""},
    {"intensity-gemm", kArithmetic, "GEMM: about 341 FLOP/byte", kLecture, "341", kBf16, "n^2 (2n - 1) / 6n^2, n = 1024",
     [](Dtype t) { return lecture_intensity(gemm(t)); }, nullptr, printed(341, 1), everywhere(kHolds), ""},

    // Which side of the ridge. The ridge is that of the pipe that does the work: the CUDA cores but for GEMM.
    {"memory-bound-relu", kDevice, "ReLU is left of the ridge", kLecture, "< 1 ridge", kStored, "intensity, FLOP/byte",
     [](Dtype t) { return lecture_intensity(relu(t)); },
     [](const Subject& s, Dtype t) { return over_ridge(s.run, relu(t), lecture_intensity(relu(t))); }, at_most(1), on_h100(kHolds), ""},
    {"memory-bound-gelu", kDevice, "GeLU is left of the ridge", kLecture, "< 1 ridge", kStored, "intensity, FLOP/byte",
     [](Dtype t) { return lecture_intensity(gelu(t)); },
     [](const Subject& s, Dtype t) { return over_ridge(s.run, gelu(t), lecture_intensity(gelu(t))); }, at_most(1), on_h100(kHolds),
     "FP8 is the nearest: 10 of 20 FLOP/byte on an H100"},
    {"memory-bound-dot", kDevice, "dot is left of the ridge", kLecture, "< 1 ridge", kStored, "intensity, FLOP/byte",
     [](Dtype t) { return lecture_intensity(dot(t)); },
     [](const Subject& s, Dtype t) { return over_ridge(s.run, dot(t), lecture_intensity(dot(t))); }, at_most(1), on_h100(kHolds), ""},
    {"memory-bound-gemv", kDevice, "GEMV is left of the ridge", kLecture, "< 1 ridge", kStored, "intensity, FLOP/byte",
     [](Dtype t) { return lecture_intensity(gemv(t)); },
     [](const Subject& s, Dtype t) { return over_ridge(s.run, gemv(t), lecture_intensity(gemv(t))); }, at_most(1), on_h100(kHolds), ""},
    {"compute-bound-1024", kDevice, "a GEMM of n = 1024 is right of the ridge", kLecture, "> 1 ridge", kMultiplied, "intensity, FLOP/byte",
     [](Dtype t) { return lecture_intensity(gemm(t)); },
     [](const Subject& s, Dtype t) { return over_ridge(s.run, gemm(t), lecture_intensity(gemm(t))); }, at_least(1), on_h100(kHolds), ""},
    {"compute-bound-1024", kMeasured, "a GEMM of n = 1024 is compute-bound", kLecture, "the peak binds", kBf16, "its share of the roof, at least 0.5",
     nullptr, [](const Subject& s, Dtype t) { return share_of_roof(s.run, gemm(t)); },
     else_on_paper(at_least(0.5)), on_h100(kPaper), "64 tiles for 132 SMs, about as long as a launch, and 6 MiB fit in the L2"},
    {"ideal-time", kMeasured, "time = max(memory, compute), at the lecture's n = 2^20", kLecture, "1.25 us", kBf16, "share of its roof",
     [](Dtype) { return 1.0; }, [](const Subject& s, Dtype t) { return share_of_roof(s.run, relu(t)); },
     else_on_paper(within(1, 0.05)), on_h100(kPaper), "4 MiB last about as long as a launch: the model cannot be tested there"},

    // Bandwidth binds them, measured: as fast as the stream with the same accesses.
    {"memory-bound-relu", kMeasured, "ReLU takes as long as its bytes", kLecture, "1", kStored, "its bandwidth / the stream's",
     [](Dtype) { return 1.0; }, [](const Subject& s, Dtype t) { return beside_stream(s.run, Op::relu, t); }, within(1, 0.05), on_h100(kHolds), ""},
    {"memory-bound-gelu", kMeasured, "GeLU takes as long as its bytes", kLecture, "1", kStored, "its bandwidth / the stream's",
     [](Dtype) { return 1.0; }, [](const Subject& s, Dtype t) { return beside_stream(s.run, Op::gelu, t); }, within(1, 0.05), on_h100(kHolds), ""},
    {"memory-bound-dot", kMeasured, "dot takes as long as its bytes", kLecture, "1", kStored, "its bandwidth / the stream's",
     [](Dtype) { return 1.0; }, [](const Subject& s, Dtype t) { return beside_stream(s.run, Op::dot, t); }, within(1, 0.05), on_h100(kHolds), ""},
    {"memory-bound-gemv", kMeasured, "GEMV takes as long as its bytes", kLecture, "1", kStored, "its bandwidth / the stream's",
     [](Dtype) { return 1.0; }, [](const Subject& s, Dtype t) { return beside_stream(s.run, Op::gemv, t); }, within(1, 0.05), on_h100(kHolds), ""},
    {"gelu-as-relu", kMeasured, "ReLU is no faster than GeLU", kLecture, "1", kStored, "t(GeLU) / t(ReLU)",
     [](Dtype) { return 1.0; }, [](const Subject& s, Dtype t) { return gelu_over_relu(s.run, t); }, within(1, 0.03), on_h100(kHolds), ""},

    // MFU.
    {"ideal-mfu-relu", kArithmetic, "ideal MFU = min(1, intensity / ridge): ReLU", kLecture, "0.00085", kBf16, "0.25 / 295.37",
     [](Dtype t) { return ideal_mfu(relu(t)); }, nullptr, printed(0.00085, 1e-5), everywhere(kHolds), ""},
    {"ideal-mfu-gelu", kArithmetic, "ideal MFU: GeLU", kLecture, "0.017", kBf16, "5 / 295.37",
     [](Dtype t) { return ideal_mfu(gelu(t)); }, nullptr, printed(0.017, 1e-3), everywhere(kHolds), ""},
    {"ideal-mfu-dot", kArithmetic, "ideal MFU: dot", kLecture, "0.0017", kBf16, "0.49999952 / 295.37",
     [](Dtype t) { return ideal_mfu(dot(t)); }, nullptr, printed(0.0017, 1e-4), everywhere(kHolds), ""},
    {"ideal-mfu-gemv", kArithmetic, "ideal MFU: GEMV", kLecture, "0.0034", kBf16, "0.99756335 / 295.37",
     [](Dtype t) { return ideal_mfu(gemv(t)); }, nullptr, printed(0.0034, 1e-4), everywhere(kHolds), ""},
    {"ideal-mfu-gemm", kArithmetic, "ideal MFU: GEMM", kLecture, "1", kBf16, "min(1, 341.17 / 295.37)",
     [](Dtype t) { return ideal_mfu(gemm(t)); }, nullptr, printed(1, 0.1), everywhere(kHolds), ""},
    {"mfu-0.79", kArithmetic, "MFU 0.79 in fp32, TF32 off", kLecture, "0.79", kFp32, "5.34e13 / 6.75e13",
     [](Dtype) { return 5.34e13 / 6.75e13; }, nullptr, printed(0.79, 0.01), everywhere(kHolds), ""},
    {"fp32-peak", kArithmetic, "an H100 promises 67.5e12 FLOP/s in fp32", kLecture, "67.5e12", kFp32, "132 x 256 x 1980e6",
     [](Dtype) { return derived_peak(132, 256, 1980).value; }, nullptr, printed(67.5e12, 1e11), everywhere(kFails),
     "its SMs and clock give 66.91e12, and NVIDIA prints 67"},
    {"mfu-0.79", kMeasured, "MFU 0.79 in fp32, TF32 off, x all ones", kLecture, "0.79", kFp32, "5.34e13 / 6.75e13",
     [](Dtype) { return 5.34e13 / 6.75e13; }, [](const Subject& s, Dtype) { return mfu_079(s, "ones"); },
     h100_only(within(0.79, 0.05)), only_on_h100(kHolds), "of 67.5e12, as said; here w is all ones, too"},
    {"mfu-0.79-normal", kMeasured, "the same with normally distributed data, which draws more power", kOurs, "", kFp32, "5.34e13 / 6.75e13",
     [](Dtype) { return 5.34e13 / 6.75e13; }, [](const Subject& s, Dtype) { return mfu_079(s, "normal"); },
     not_judged(), everywhere(kNone), "printed, not judged"},
    {"mfu-good", kMeasured, "an MFU of 0.5 is good, and can be had", kLecture, ">= 0.5", kMultiplied, "the best of any size",
     nullptr, [](const Subject& s, Dtype t) { return best_mfu(s.run, t); }, at_least(0.5), on_h100(kHolds), ""},
    {"decode", kMeasured, "decoding is GEMV-like: MFU at M = 1 is at most intensity / ridge", kLecture, "<= 1", kMultiplied,
     "MFU / (intensity / ridge) = its bandwidth / the roof's", nullptr, [](const Subject& s, Dtype t) { return decode_share(s.run, t); }, at_most(1), on_h100(kHolds), ""},

    // Training.
    {"backward", kArithmetic, "the backward pass takes twice the forward's FLOPs", kLecture, "2", kNoType, "(2BDD + 2DDB) / 2BDD",
     [](Dtype) { return backward() / forward(); }, nullptr, printed(2, 0), everywhere(kHolds), ""},
    {"forward-flops", kArithmetic, "forward: 2 B D^2", kLecture, "134217728", kNoType, "2 x 1024 x 256^2",
     [](Dtype) { return forward(); }, nullptr, printed(134217728, 0), everywhere(kHolds), ""},
    {"backward", kMeasured, "the backward pass takes twice the forward's time", kLecture, "2", kBf16, "(t(nn) + t(nt)) / t(tn)",
     [](Dtype) { return 2.0; }, [](const Subject& s, Dtype t) { return backward_over_forward(s.run, t); }, within(2, 0.1), on_h100(kHolds), ""},
    {"6nd", kArithmetic, "training takes 6 N D; exactly 6BLD^2 - 2BD^2 for L layers", kLecture, "0 off", kNoType,
     "counted - (6BLD^2 - 2BD^2), B = 1024, D = 256, L = 16", [](Dtype) { return training_step(16) - (6 * kB * 16 * kD * kD - 2 * kB * kD * kD); },
     nullptr, printed(0, 0), everywhere(kHolds), "the first layer has no gradient of its input"},
    {"training-flops", kArithmetic, "70B parameters on 15T tokens take 6.3e24 FLOPs", kLecture, "6.3e24", kNoType, "6 x 70e9 x 15e12",
     [](Dtype) { return model_flops(forward_work(70'000'000'000, Recompute::none), 15e12).value; }, nullptr, printed(6.3e24, 1e23), everywhere(kHolds), ""},
    {"flops-a-day", kArithmetic, "1024 H100 at MFU 0.5 do 4.38e22 FLOPs a day", kLecture, "4.38e22", kNoType, "989.5e12 x 0.5 x 1024 x 86400",
     [](Dtype) { return flops_within(kDay, 1024, FlopsPerS{989.5e12}, 0.5).value; }, nullptr, printed(4.38e22, 1e20), everywhere(kHolds), ""},
    {"training-days", kArithmetic, "which takes about 144 days", kLecture, "144", kNoType, "6.3e24 / (989.5e12 x 0.5 x 1024 x 86400)",
     [](Dtype) { return training_time(Flops{6.3e24}, 1024, FlopsPerS{989.5e12}, 0.5).value / kDay.value; }, nullptr, printed(144, 1), everywhere(kHolds),
     "rounded; cut off it would be 143"},
    {"flops-gpt3", kArithmetic, "GPT-3 took 3.14e23 FLOPs", kLecture, "3.14e23", kNoType, "", nullptr, nullptr, not_judged(), everywhere(kNone), "a citation"},
    {"flops-gpt4", kArithmetic, "GPT-4 is said to have taken 2e25 FLOPs", kLecture, "2e25", kNoType, "", nullptr, nullptr, not_judged(), everywhere(kNone), "a citation"},

    // Memory.
    {"bytes-small", kArithmetic, "4 x 8 fp32 take 128 bytes", kLecture, "128", kFp32, "4 x 8 x 4",
     [](Dtype t) { return 4 * 8 * bytes_per_element(t); }, nullptr, printed(128, 0), everywhere(kHolds), ""},
    {"bytes-gpt3", kArithmetic, "a feed-forward matrix of GPT-3 takes 2.3 GB", kLecture, "2.3e9", kFp32, "49152 x 12288 x 4",
     [](Dtype t) { return 49152.0 * 12288 * bytes_per_element(t); }, nullptr, printed(2.3e9, 1e8), everywhere(kFails),
     "2.42 GB, 2.25 GiB, 2304 MiB: 2.3 is MiB divided by 1000"},
    {"bytes-adam", kArithmetic, "Adam: 12 bytes per parameter, no fp32 master copy", kLecture, "12", kNoType, "2 + 2 + 4 + 4",
     [](Dtype) { return Ledger{}.total(); }, nullptr, printed(12, 0), everywhere(kHolds), "usual practice has a master copy: 16"},
    {"bytes-adagrad", kArithmetic, "AdaGrad: 8 bytes per parameter", kLecture, "8", kNoType, "2 + 2 + 4",
     [](Dtype) { return Ledger{.state = 4}.total(); }, nullptr, printed(8, 0), everywhere(kHolds), ""},
    {"largest-model", kArithmetic, "8 cards of 80 GB hold 53B parameters", kLecture, "53e9", kNoType, "8 x 80e9 / 12",
     [](Dtype) { return largest_model(Bytes{80e9}, Ledger{}, Sharding::zero3, 8); }, nullptr, printed(53e9, 1e9), everywhere(kHolds),
     "40e9 at 16 bytes per parameter"},
    {"card-memory", kDevice, "a card of 80 GB has 80e9 bytes", kLecture, "80e9", kNoType, "80e9", [](Dtype) { return 80e9; },
     [](const Subject& s, Dtype) { return card_memory(s.run); }, h100_only(at_least(80e9)), {std::nullopt, kNone, kNone},
     "as sold; the driver reports another size"},
    {"activations", kArithmetic, "activations of a deep MLP: 2 B D L bytes", kLecture, "2097152", kNoType, "2 x 64 x 1024 x 16",
     [](Dtype t) { return peak_storing_all(mlp_layer(64, 1024, bytes_per_element(t)), 16).total().value; }, nullptr, printed(2097152, 0), everywhere(kHolds), ""},
    {"activations-micro", kArithmetic, "a quarter of that in micro-batches of B / 4", kLecture, "524288", kNoType, "2 x 16 x 1024 x 16",
     [](Dtype t) { return peak_storing_all(mlp_layer(16, 1024, bytes_per_element(t)), 16).total().value; }, nullptr, printed(524288, 0), everywhere(kHolds), ""},
    {"checkpoint-none", kArithmetic, "16 layers, all stored: 16 activations", kLecture, "16", kNoType, "L",
     [](Dtype) { return peak_storing_all(mlp_layer(1, 1, 1), 16).total().value; }, nullptr, printed(16, 0), everywhere(kHolds), ""},
    {"checkpoint-all", kArithmetic, "none stored: O(L^2) layer forwards again", kLecture, "120", kNoType, "L (L - 1) / 2",
     [](Dtype) { return forwards_storing_nothing(16); }, nullptr, printed(120, 0), everywhere(kHolds), ""},
    {"checkpoint-sqrt", kArithmetic, "every sqrt(L)-th stored: O(sqrt(L)) activations", kLecture, "8", kNoType, "L / 4 + 4",
     [](Dtype) { return peak_in_groups(mlp_layer(1, 1, 1), 16, sqrt_group(16)).total().value; }, nullptr, printed(8, 0), everywhere(kHolds), ""},

    // Number formats: by the codec, and by the device.
    {"fp16-underflow", kArithmetic, "fp16(1e-8) is 0", kLecture, "0", kNoType, "nearest, ties to even; 0 up to 2^-25 = 2.98e-8",
     [](Dtype) { return round_trip(Dtype::fp16, 1e-8); }, nullptr, printed(0, 0), everywhere(kHolds), ""},
    {"bf16-keeps", kArithmetic, "bf16 keeps 1e-8", kLecture, "1e-8", kNoType, "nearest, ties to even",
     [](Dtype) { return round_trip(Dtype::bf16, 1e-8); }, nullptr, within(1e-8, 1.0 / 256), everywhere(kHolds), ""},
    {"bf16-range", kArithmetic, "bf16 has nearly the range of fp32", kLecture, "1", kNoType, "max(bf16) / max(fp32)",
     [](Dtype) { return max_finite(Dtype::bf16) / max_finite(Dtype::fp32); }, nullptr, within(1, 0.005), everywhere(kHolds), ""},
    {"e4m3-max", kArithmetic, "E4M3 reaches 448", kLecture, "448", kNoType, "1.75 x 2^8",
     [](Dtype) { return max_finite(Dtype::fp8_e4m3); }, nullptr, printed(448, 0), everywhere(kHolds), ""},
    {"e5m2-max", kArithmetic, "E5M2 reaches 57344", kLecture, "57344", kNoType, "1.75 x 2^15",
     [](Dtype) { return max_finite(Dtype::fp8_e5m2); }, nullptr, printed(57344, 0), everywhere(kHolds), ""},
    {"fp16-underflow", kMeasured, "the same by the device's conversion", kLecture, "0", kNoType, "fp16(1e-8)",
     [](Dtype) { return round_trip(Dtype::fp16, 1e-8); }, [](const Subject& s, Dtype) { return conversion(s.run, Dtype::fp16, "fp16(1e-8)"); },
     printed(0, 0), everywhere(kHolds), ""},
    {"bf16-keeps", kMeasured, "the same by the device's conversion", kLecture, "1e-8", kNoType, "bf16(1e-8)",
     [](Dtype) { return round_trip(Dtype::bf16, 1e-8); }, [](const Subject& s, Dtype) { return conversion(s.run, Dtype::bf16, "bf16(1e-8)"); },
     of_model(0), everywhere(kHolds), ""},
    {"e4m3-max", kMeasured, "the same by the device's conversion", kLecture, "448", kNoType, "fp8_e4m3(1e6), saturating",
     [](Dtype) { return max_finite(Dtype::fp8_e4m3); }, [](const Subject& s, Dtype) { return conversion(s.run, Dtype::fp8_e4m3, "fp8_e4m3(1e6)"); },
     printed(448, 0), everywhere(kHolds), ""},
    {"e5m2-max", kMeasured, "the same by the device's conversion", kLecture, "57344", kNoType, "fp8_e5m2(1e6), saturating",
     [](Dtype) { return max_finite(Dtype::fp8_e5m2); }, [](const Subject& s, Dtype) { return conversion(s.run, Dtype::fp8_e5m2, "fp8_e5m2(1e6)"); },
     printed(57344, 0), everywhere(kHolds), ""},
    {"nvfp4-values", kArithmetic, "NVFP4 has the values 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives", kLecture, "8", kNoType, "how many of them E2M1 has",
     [](Dtype) { return e2m1_values(); }, nullptr, printed(8, 0), everywhere(kHolds), "4.5 bits a value with its block's scale; by the codec: no device converts to it before compute capability 10.0, and no kernel here"},
};
// clang-format on

// ---- judging
// -------------------------------------------------------------------------------------

struct Judgement {
  Verdict verdict;
  std::string_view why;
};

/// Holds where the whole interval is inside the limits, fails where all of it is outside.
Judgement judge_value(const Rule& rule, const Interval& value, std::optional<double> model) {
  const double unit = rule.of_model ? model.value_or(1) : 1;
  const double low = rule.low * unit, high = rule.high * unit;
  if (low <= value.low && value.high <= high) return {Verdict::holds, ""};
  if (value.high < low || value.low > high) return {rule.outside, ""};
  return {Verdict::unknown, "its interval crosses the limit"};
}

Judgement judge_one(const Claim& claim, const Finding& f, bool applies, bool on_h100) {
  if (!claim.rule.judged || !applies) return {Verdict::not_applicable, ""};
  if (claim.rule.h100_only && !on_h100) {
    return {Verdict::not_applicable, "its number is that of an H100 SXM"};
  }
  if (claim.query == nullptr) return judge_value(claim.rule, {*f.model, *f.model}, f.model);
  if (!f.measured) return {Verdict::unknown, ""};
  if (!f.interval) return {Verdict::unknown, "fewer than 6 rounds, so no interval"};
  return judge_value(claim.rule, *f.interval, f.model);
}

std::string joined(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) {
    if (part.empty()) continue;
    text += fmt::format("{}{}", text.empty() ? "" : "; ", part);
  }
  return text;
}

/// `subject` may be null for arithmetic.
Finding find(const Claim& claim, std::optional<Dtype> dtype, const Subject* subject,
             DeviceClass device) {
  const Dtype type = dtype.value_or(Dtype::bf16);
  Finding f{.id = claim.id,
            .basis = claim.basis,
            .dtype = dtype,
            .sentence = claim.sentence,
            .source = claim.source,
            .said = claim.said,
            .formula = claim.formula,
            .expected = claim.expected[static_cast<std::size_t>(device)]};
  if (claim.model != nullptr) f.model = claim.model(type);
  Evidence evidence;
  if (claim.query != nullptr) evidence = claim.query(*subject, type);
  f.measured = evidence.value;
  f.interval = evidence.interval;
  f.rows = std::move(evidence.rows);
  const Judgement judgement =
      judge_one(claim, f, evidence.applies, device == DeviceClass::h100_sxm);
  if (claim.basis == Basis::device) f.interval.reset();  // that of a number known exactly
  f.verdict = judgement.verdict;
  f.reason = joined({judgement.why, evidence.remark, claim.reason});
  return f;
}

std::vector<Finding> find_all(const Subject* subject, DeviceClass device) {
  std::vector<Finding> findings;
  for (const Claim& claim : kClaims) {
    if (claim.basis != Basis::arithmetic && subject == nullptr) continue;
    if (claim.types.empty()) findings.push_back(find(claim, std::nullopt, subject, device));
    for (const Dtype t : claim.types) findings.push_back(find(claim, t, subject, device));
  }
  return findings;
}

std::string text(std::optional<double> value) {
  return value && std::isfinite(*value) ? fmt::format("{}", *value) : "";
}

std::string text(std::optional<Verdict> verdict) {
  return std::string(verdict ? name(*verdict) : "");
}

std::string text(std::optional<Dtype> dtype) { return std::string(dtype ? name(*dtype) : ""); }

/// A cell of a Markdown table.
std::string escaped(std::string_view cell) {
  std::string all;
  for (const char c : cell) all += c == '|' ? "\\|" : std::string(1, c);
  return all;
}

}  // namespace

std::string_view name(Verdict verdict) { return kVerdicts[static_cast<std::size_t>(verdict)]; }
std::string_view name(Basis basis) { return kBases[static_cast<std::size_t>(basis)]; }

DeviceClass device_class(const Run& run) {
  if (run.records.empty() || run.records.front().backend != "cuda") return DeviceClass::cpu;
  // The run was matched with its data sheet when it was measured, and holds all of its roofs.
  const std::vector<Roof> sheet = roofs_of(h100());
  const auto same = [&](const Roof& a) {
    return std::any_of(run.roofs.begin(), run.roofs.end(), [&](const Roof& b) {
      return b.kind == Kind::datasheet && a.name == b.name && a.per_s == b.per_s &&
             a.source == b.source;
    });
  };
  return std::all_of(sheet.begin(), sheet.end(), same) ? DeviceClass::h100_sxm
                                                       : DeviceClass::other_gpu;
}

bool is_unexpected(const Finding& f) {
  return f.verdict != Verdict::unknown && f.expected && *f.expected != f.verdict;
}

std::vector<Finding> judge_arithmetic() { return find_all(nullptr, DeviceClass::h100_sxm); }

std::vector<Finding> judge(const Run& run, const RidgeFits& ridges) {
  const Subject subject{run, ridges};
  return find_all(&subject, device_class(run));
}

std::string claims_csv(std::span<const Finding> findings) {
  std::string csv =
      csv_line({"id", "basis", "dtype", "claim", "source", "said", "formula", "model", "measured",
                "measured_low", "measured_high", "rows", "verdict", "expected", "reason"});
  for (const Finding& f : findings) {
    const auto bound = [&](double Interval::*end) {
      return f.interval ? text(std::optional((*f.interval).*end)) : "";
    };
    csv += csv_line({std::string(f.id), std::string(name(f.basis)), text(f.dtype),
                     std::string(f.sentence), std::string(f.source), std::string(f.said),
                     std::string(f.formula), text(f.model), text(f.measured), bound(&Interval::low),
                     bound(&Interval::high), f.rows, text(f.verdict), text(f.expected), f.reason});
  }
  return csv;
}

std::string claims_markdown(std::span<const Finding> findings, const Run& run) {
  const Record first = run.records.empty() ? Record{} : run.records.front();
  std::string page = fmt::format("# Claims\n\n{}, {}, run {}\n", first.device,
                                 first.timestamp_utc.substr(0, 10), first.run_id);
  for (const Basis basis : {Basis::arithmetic, Basis::device, Basis::measured}) {
    page += fmt::format(
        "\n## {}\n\n| claim | type | said | formula | model | here | rows | verdict | expected | "
        "reason |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
        name(basis));
    for (const Finding& f : findings) {
      if (f.basis != basis) continue;
      std::string here = f.measured ? fmt::format("{:.5g}", *f.measured) : "";
      if (f.interval) {
        here += fmt::format(" [{:.5g}, {:.5g}]", f.interval->low, f.interval->high);
      }
      page +=
          fmt::format("| {} | {} | {} | {} | {} | {} | {} | {}{} | {} | {} |\n",
                      escaped(f.sentence), text(f.dtype), escaped(f.said), escaped(f.formula),
                      text(f.model), here, escaped(f.rows), text(f.verdict),
                      is_unexpected(f) ? " (unexpected)" : "", text(f.expected), escaped(f.reason));
    }
  }
  return page;
}

double lecture_intensity(const Case& c) {
  const double s = bytes_per_element(c.a);
  const auto m = static_cast<double>(c.m), n = static_cast<double>(c.n);
  const auto k = static_cast<double>(c.k);
  switch (c.op) {
    case Op::relu:
      return 1 / (2 * s);
    case Op::gelu:
      return 20 / (2 * s);
    case Op::dot:
      return (2 * n - 1) / (s * (2 * n + 1));
    case Op::gemv:
      return m * (2 * n - 1) / (s * (m * n + n + m));
    default:
      return m * n * (2 * k - 1) / (s * (m * k + k * n + m * n));
  }
}

}  // namespace roofline
