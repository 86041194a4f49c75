// --spec and --from: whose roofs a subcommand computes with.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "roofline/arguments.h"
#include "roofline/roof.h"

namespace roofline {

struct RoofOptions {
  std::string spec;  // a data sheet
  std::string run;   // a run's folder
};

void add_roof_options(Arguments command, RoofOptions& options);

/// The roofs of the spec, or all those of the run; empty where neither was given.
std::vector<Roof> load_roofs(const RoofOptions& options);

/// Those to place work under: what was measured, where anything was, else all of them.
std::vector<Roof> roofs_to_use(const std::vector<Roof>& roofs);

/// Work under its roofs; empty where one is unknown.
struct Ideal {
  std::optional<double> ridge_flops_per_byte, attainable_flops_per_s, time_s, mfu;
  std::optional<Bound> bound;
};

/// `work`, on the pipe and with the types of `c`, its data in memory. MFU is against the data
/// sheet's dense peak of the fastest GEMM pipe for `dtype`, GeLU's decreed FLOPs included.
Ideal ideal(const Cost& work, const Case& c, Dtype dtype, const std::vector<Roof>& roofs);

}  // namespace roofline
