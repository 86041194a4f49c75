// What a run says about a claim: a value, its interval, and the rows that it rests on.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "roofline/case.h"
#include "roofline/run.h"
#include "roofline/statistics.h"

namespace roofline {

/// Where the run cannot say, `value` is empty and `remark` tells why.
struct Evidence {
  std::optional<double> value;
  std::optional<Interval> interval;  // 95 %; what is not measured is known exactly
  std::string rows;                  // "relu/bf16/268435456, gelu/bf16/268435456"
  std::string remark;
  bool applies = true;  // false where this device does not compute it, or has no such number
};

// Only rows that are cold, and normally distributed unless said otherwise, are looked at. A row
// that is above_roof poisons what would rest on it: then there is no value.

/// Peak of the GEMM pipe over memory bandwidth, of the data sheet among `roofs`; what is not
/// verified there counts as unknown.
Evidence paper_ridge(std::span<const Roof> roofs, Dtype dtype);

/// The case's intensity as a multiple of the ridge of its own pipe: below 1, memory binds.
Evidence over_ridge(const Run& run, const Case& c, double intensity_flops_per_byte);

/// Best GEMM over best stream, in FLOP/byte. The interval is carried through the division.
Evidence measured_ridge(const Run& run, Dtype dtype);

/// The largest of our rows of `op`: its bandwidth over that of the stream with the same accesses.
Evidence beside_stream(const Run& run, Op op, Dtype dtype);

/// t(GeLU) / t(ReLU), paired by round.
Evidence gelu_over_relu(const Run& run, Dtype dtype);

/// (t(nn) + t(nt)) / t(tn) of the largest GEMM with all three layouts, paired by round.
Evidence backward_over_forward(const Run& run, Dtype dtype);

/// The best MFU of any GEMM; `remark` lists the best by size.
Evidence best_mfu(const Run& run, Dtype dtype);

/// FLOP/s of the fastest row of a GEMM, over `peak`.
Evidence share_of_peak(const Run& run, const Case& c, std::string_view data, FlopsPerS peak);

/// The time that the roofs allow over the time of the fastest row: those that it was placed under,
/// else those that the run has measured by its end.
Evidence share_of_roof(const Run& run, const Case& c);

/// What the device's own conversion made of a value: `what` is a key of environment.json's
/// `conversions`, "fp8_e4m3(1e6)".
Evidence conversion(const Run& run, Dtype dtype, std::string_view what);

/// Bytes of memory that the device reports.
Evidence device_memory(const Run& run);

/// Of the GEMM with M = 1: MFU over intensity / ridge. The peak is in both, and cancels: that is
/// its bandwidth over the roof's.
Evidence decode_share(const Run& run, Dtype dtype);

}  // namespace roofline
