#include "roofline/einsum.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <utility>

#include "roofline/number.h"

namespace roofline {
namespace {

constexpr std::string_view kLeading = "...";

template <typename... Arguments>
[[noreturn]] void fail(fmt::format_string<Arguments...> message, Arguments&&... arguments) {
  throw std::invalid_argument("einsum: " +
                              fmt::format(message, std::forward<Arguments>(arguments)...));
}

bool contains(const Dimensions& dimensions, const std::string& name) {
  return std::find(dimensions.begin(), dimensions.end(), name) != dimensions.end();
}

bool is_name(std::string_view text) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
  return !text.empty() && kLetters.find(text[0]) != std::string_view::npos &&
         std::all_of(text.begin(), text.end(), [&](char c) {
           return kLetters.find(c) != std::string_view::npos || (c >= '0' && c <= '9');
         });
}

std::vector<std::string_view> split(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find_first_of(separators);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

Dimensions parse_tensor(std::string_view text, const std::string& what) {
  Dimensions dimensions;
  for (const std::string_view name : split(text, " \t\n")) {
    if (name.empty()) continue;
    if (name == kLeading && !dimensions.empty()) fail("{}: ... stands only in front", what);
    if (name != kLeading && !is_name(name)) {
      fail("{}: expected a name of letters, digits and _, or ...; got \"{}\"", what, name);
    }
    if (contains(dimensions, std::string(name))) {
      fail("{}: dimension {} stands in it twice", what, name);
    }
    dimensions.emplace_back(name);
  }
  return dimensions;
}

double product(const Dimensions& dimensions, const Sizes& sizes) {
  double elements = 1;
  for (const std::string& name : dimensions) elements *= static_cast<double>(sizes.at(name));
  return elements;
}

double count_elements(const Dimensions& tensor, const Sizes& sizes) {
  const double elements = product(tensor, sizes);
  if (elements > 0x1p53) {
    fail("a tensor [{}] of {:.3g} elements: expected at most 2^53", fmt::join(tensor, " "),
         elements);
  }
  return elements;
}

/// All names of the inputs, each once, in order of appearance.
Dimensions index_space(const Einsum& einsum) {
  Dimensions all;
  for (const Dimensions& input : einsum.inputs) {
    for (const std::string& name : input) {
      if (!contains(all, name)) all.push_back(name);
    }
  }
  return all;
}

std::optional<Case> matrix_op(const Einsum& einsum, const Sizes& sizes, Dtype dtype) {
  if (einsum.inputs.size() != 2) return std::nullopt;
  Dimensions batch, m, n, k;
  for (const std::string& name : index_space(einsum)) {
    const bool in_a = contains(einsum.inputs[0], name), in_b = contains(einsum.inputs[1], name);
    const bool kept = contains(einsum.output, name);
    if (!kept && !(in_a && in_b)) return std::nullopt;  // a sum over one input alone
    (kept ? (in_a && in_b ? batch : in_a ? m : n) : k).push_back(name);
  }
  if (k.empty()) return std::nullopt;
  const auto size = [&](const Dimensions& d) {
    return static_cast<std::int64_t>(product(d, sizes));  // of a part of a tensor: below 2^53
  };
  const std::int64_t copies = size(batch);
  if (m.empty() && n.empty()) {
    return copies == 1 ? std::optional(make_case(Op::dot, dtype, 1, size(k), 1)) : std::nullopt;
  }
  if ((m.empty() || n.empty()) && copies == 1) {
    return make_case(Op::gemv, dtype, size(m.empty() ? n : m), size(k), 1);
  }
  Case gemm = make_case(Op::gemm, dtype, size(m), size(n), size(k));
  gemm.batch = copies;
  return gemm;
}

}  // namespace

Einsum parse_einsum(std::string_view expression) {
  const std::size_t arrow = expression.find("->");
  if (arrow == std::string_view::npos || expression.rfind("->") != arrow) {
    fail("expected one \"->\", as in \"m k, k n -> m n\"; got \"{}\"", expression);
  }
  Einsum einsum;
  for (const std::string_view input : split(expression.substr(0, arrow), ",")) {
    einsum.inputs.push_back(parse_tensor(input, fmt::format("input {}", einsum.inputs.size() + 1)));
    if (einsum.inputs.back().empty()) {
      fail("input {} has no dimensions, expected at least one", einsum.inputs.size());
    }
  }
  einsum.output = parse_tensor(expression.substr(arrow + 2), "the output");
  const Dimensions known = index_space(einsum);
  for (const std::string& name : einsum.output) {
    if (!contains(known, name)) fail("output dimension {} stands in no input", name);
  }
  return einsum;
}

Sizes parse_sizes(std::span<const std::string> assignments) {
  Sizes sizes;
  for (const std::string& assignment : assignments) {
    const std::size_t equals = assignment.find('=');
    const std::string name = assignment.substr(0, equals);
    if (equals == std::string::npos || (name != kLeading && !is_name(name))) {
      fail("expected NAME=SIZE, got \"{}\"", assignment);
    }
    const std::string_view text = std::string_view(assignment).substr(equals + 1);
    std::int64_t size = 1;
    for (const std::string_view factor : split(text, name == kLeading ? "x" : "")) {
      const std::int64_t value = parse_count(factor, name);
      if (value < 1) fail("dimension {}: expected a size of at least 1, got {}", name, value);
      if (size > std::numeric_limits<std::int64_t>::max() / value) {
        fail("dimension {}: expected a size below 2^63, got {}", name, text);
      }
      size *= value;
    }
    if (const auto [at, is_new] = sizes.emplace(name, size); !is_new) {
      fail("dimension {} has two sizes, {} and {}", name, at->second, size);
    }
  }
  return sizes;
}

EinsumCost cost(const Einsum& einsum, const Sizes& sizes, Dtype dtype) {
  const Dimensions all = index_space(einsum);
  for (const std::string& name : all) {
    if (!sizes.contains(name)) fail("dimension {0} has no size: add {0}=SIZE", name);
  }
  for (const auto& [name, size] : sizes) {
    if (!contains(all, name)) {
      fail("{}={}: no such dimension; the inputs have {}", name, size, fmt::join(all, ", "));
    }
  }
  EinsumCost result;
  for (const Dimensions& input : einsum.inputs) {
    result.input_elements.push_back(count_elements(input, sizes));
  }
  result.output_elements = count_elements(einsum.output, sizes);
  std::copy_if(all.begin(), all.end(), std::back_inserter(result.summed),
               [&](const std::string& name) { return !contains(einsum.output, name); });
  const double per_point =
      static_cast<double>(einsum.inputs.size() - 1) + (result.summed.empty() ? 0 : 1);
  result.flops = Flops{per_point * product(all, sizes)};
  result.op = matrix_op(einsum, sizes, dtype);
  return result;
}

}  // namespace roofline
