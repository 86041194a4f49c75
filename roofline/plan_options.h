// What the plans ask for alike: the model, and the speeds of a GPU.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "roofline/architecture.h"
#include "roofline/case.h"
#include "roofline/command.h"
#include "roofline/plan_sheet.h"
#include "roofline/units.h"

namespace roofline {

/// An option whose text `parse` reads, as those of number.h do. It has to be more than 0.
template <typename T>
Argument add_parsed(Arguments app, const std::string& name, std::optional<T>& to,
                    T (*parse)(std::string_view, std::string_view), const std::string& help) {
  const auto read = [name, &to, parse](const std::string& text) {
    to = parse(text, name);
    if (!(*to > 0)) {
      throw std::invalid_argument(fmt::format("{}: expected more than 0, got {}", name, text));
    }
  };
  return app.add_option(name, read, help).type_name("VALUE");
}

/// An option that takes one of a few names.
template <typename Enum>
Argument add_choice(Arguments app, const std::string& name, Enum& to,
                    const std::vector<std::pair<std::string, Enum>>& choices,
                    const std::string& help) {
  std::string names;
  for (const auto& choice : choices) names += (names.empty() ? "" : "|") + choice.first;
  const auto read = [name, names, choices, &to](const std::string& text) {
    for (const auto& choice : choices) {
      if (choice.first == text) {
        to = choice.second;
        return;
      }
    }
    throw std::invalid_argument(fmt::format("{}: expected {}; got \"{}\"", name, names, text));
  };
  return app.add_option(name, read, help).type_name(names);
}

/// A utilisation: above 0, at most 1.
double parse_fraction(std::string_view text, std::string_view what);

/// Bytes of a stored element: a dtype, or int8 or int4, which a model may be stored in.
double storage_bytes(std::string_view format, std::string_view what);

// ---- the model ----------------------------------------------------------------------------------

struct ModelOptions {
  std::optional<std::int64_t> params, active_params;
  std::string config, family, count = "exact";
  bool tied = false, untied = false;
  Architecture sizes;
};

void add_model_options(Arguments app, ModelOptions& options);

struct Model {
  Architecture shape;                      // as far as it was said
  std::optional<std::int64_t> parameters;  // all of them: memory
  std::optional<std::int64_t> active;      // that a token meets: FLOPs
  std::optional<Parameters> addends;       // where they were counted, not given

  /// Throws std::invalid_argument where no model was said.
  std::int64_t parameters_or_throw() const;
};

/// Reads, counts, checks. Throws std::invalid_argument for a mixture of experts without both
/// counts, std::runtime_error for a config.json that it cannot read.
Model resolve(const ModelOptions& options);

/// Lines of PL-1, if there is a model.
void add_lines(PlanSheet& sheet, const Model& model);

// ---- the GPU ------------------------------------------------------------------------------------

struct GpuOptions {
  std::string spec, run, dtype = "bf16";
  std::optional<double> peak, bandwidth;
  std::optional<std::int64_t> gpus, memory;
};

void add_gpu_options(Arguments app, GpuOptions& options);

struct Speed {
  double per_s;
  std::string source;
};

/// One GPU by its data sheet, or as given, and what a run measured on it.
struct Gpu {
  std::optional<Speed> peak, bandwidth;               // FLOP/s, byte/s
  std::optional<Speed> measured_gemm, measured_gemv;  // FLOP/s, byte/s
  std::optional<double> memory;                       // byte
  std::string warning;                                // about what was given; empty if none
};

/// "h100-sxm data sheet; expected: gemm/bf16/... by cublaslt, run ...".
std::string sources(const std::optional<Speed>& bound, const std::optional<Speed>& measured);

/// `gemm`: of the run's GEMMs the one nearest to this shape is taken, else the largest. `gemv`: the
/// largest one that reads this dtype from memory. Throws std::invalid_argument for a spec that is
/// not known or not the run's.
Gpu resolve(const GpuOptions& options, const std::optional<Case>& gemm);

/// One line for stderr: why the column `expected` is empty.
std::string not_measured(const GpuOptions& options, std::string_view what);

}  // namespace roofline
