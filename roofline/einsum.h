// Tensor contractions with named dimensions: "batch seq hidden, hidden out -> batch seq out".
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "roofline/case.h"

namespace roofline {

/// The names of a tensor's dimensions, outermost first. "..." stands for any leading ones.
using Dimensions = std::vector<std::string>;

struct Einsum {
  std::vector<Dimensions> inputs;
  Dimensions output;
};

/// Inputs are separated by commas, names by blanks; a name is letters, digits and underscores, or a
/// leading "...". Throws std::invalid_argument that names the place: no "->", an output dimension
/// that no input has, a name twice in one tensor.
Einsum parse_einsum(std::string_view expression);

using Sizes = std::map<std::string, std::int64_t>;

/// From "name=4096" each; "...=8x12" gives the leading ones together. Throws std::invalid_argument
/// for what does not parse, a size below 1, and two sizes for one name.
Sizes parse_sizes(std::span<const std::string> assignments);

struct EinsumCost {
  Dimensions summed;  // in an input, not in the output
  std::vector<double> input_elements;
  double output_elements;
  /// One multiply less than there are inputs, and an add where something is summed, for each point
  /// of the whole index space: 2 m n k for a matrix product. Evaluated in one go; a path of
  /// pairwise contractions of three inputs may need less.
  Flops flops;
  /// The gemm, gemv or dot that it is, if its names say so, whatever their order: both inputs and
  /// the output share the batch, one input and the output have m or n, the inputs share k.
  std::optional<Case> op;
};

/// Throws std::invalid_argument for a dimension without a size, a size without a dimension, and a
/// tensor of more than 2^53 elements.
EinsumCost cost(const Einsum& einsum, const Sizes& sizes, Dtype dtype);

}  // namespace roofline
