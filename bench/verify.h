// Checks outputs against fp64, computed on the host from the definition: before anything is timed.
#pragma once

#include <string>

#include "bench/implementation.h"
#include "bench/operands.h"
#include "roofline/case.h"

namespace bench {

struct Verification {
  std::string metric;    // what max_error counts in; see tolerance()
  double max_error = 0;  // NaN or infinity where an output is not a number but should be
  double tolerance = 0;
  std::string where;  // the worst output: "y[17] is 0.5, expected 0.25"

  /// NaN fails.
  bool passed() const { return max_error <= tolerance; }
};

/// Whether the inputs in memory are kernels::input() rounded to their dtype: of copy 0 as far as
/// outputs are compared, of the others both ends. The other checks then take the inputs as they
/// are.
Verification verify_inputs(const Operands& operands, Device& device);

/// Poisons the outputs of copy 0, launches once, compares. Elementwise: whole up to 2^16 elements,
/// else 2^12 at each end and 2^14 in sampled stretches. Read, dot: in full. GEMV: whole up to 2^9
/// rows, else sampled. GEMM: samples in every 128-wide tile row and column.
Verification verify(const roofline::Case& c, const Work& work, const Operands& operands,
                    Device& device);

/// The largest error that is accepted, with its unit. One table; the reasons stand in it.
struct Tolerance {
  std::string_view metric;
  double value;
};
Tolerance tolerance(const roofline::Case& c);

}  // namespace bench
