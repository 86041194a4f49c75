// `roofline plan memory`: bytes per parameter, bytes per GPU, the largest model, fits or not.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <memory>

#include "roofline/number.h"
#include "roofline/plan.h"
#include "roofline/plan_commands.h"
#include "roofline/plan_options.h"
#include "roofline/run.h"
#include "roofline/spec.h"

namespace roofline {
namespace {

constexpr const char* kNotInLedger =
    "activations, communication buffers, fragmentation, CUDA context (1 to 2 GB)";

struct Optimizer {
  const char* name;
  double state;  // bytes per parameter
  const char* what;
};
constexpr Optimizer kOptimizers[] = {
    {"sgd", 0, "no state"},
    {"momentum", 4, "fp32 momentum"},
    {"adagrad", 4, "fp32 sum of squares"},
    {"adam", 8, "fp32 m and v"},
    {"adamw", 8, "fp32 m and v"},
    {"adam8bit", 2, "8-bit m and v"},
};

struct Preset {
  const char* name;
  Ledger ledger;
  const char* source;
};
constexpr Preset kPresets[] = {
    {"lecture12", {2, 2, 0, 0, 8}, "lecture: no master weights"},
    {"zero16", {2, 2, 0, 4, 8}, "ZeRO paper: + fp32 master weights"},
    {"megatron18", {2, 4, 0, 4, 8}, "Megatron-LM: fp32 gradients"},
    {"playbook20", {2, 2, 4, 4, 8}, "Ultra-Scale Playbook: bf16 gradients and fp32 ones"},
};

constexpr std::array<std::pair<const char*, Sharding>, 4> kShardings = {{
    {"ddp", Sharding::ddp},
    {"zero1", Sharding::zero1},
    {"zero2", Sharding::zero2},
    {"zero3", Sharding::zero3},
}};

struct Options {
  ModelOptions model;
  const Preset* preset = &kPresets[0];
  const Optimizer* optimizer = nullptr;
  std::string weights, gradients;
  bool master = false, accumulation = false;
  Sharding sharding = Sharding::zero3;
  std::optional<std::int64_t> gpus, memory, overhead, activations;
  std::string spec, run;
  bool explain = false;
};

void add_options(Arguments app, Options& o) {
  add_model_options(app, o.model);
  std::vector<std::pair<std::string, const Preset*>> presets;
  for (const Preset& p : kPresets) presets.emplace_back(p.name, &p);
  std::vector<std::pair<std::string, const Optimizer*>> optimizers;
  for (const Optimizer& p : kOptimizers) optimizers.emplace_back(p.name, &p);

  const char* const ledger = "The ledger (PL-4)";
  add_choice(app, "--preset", o.preset, presets, "bytes per parameter; lecture12 if none")
      .group(ledger);
  add_choice(app, "--optimizer", o.optimizer, optimizers, "its state; adamw if none").group(ledger);
  app.add_option("--weights", o.weights, "their format: bf16, fp32, fp8_e4m3, int8, int4 ...")
      .group(ledger);
  app.add_option("--gradients", o.gradients, "their format").group(ledger);
  app.add_flag("--master", o.master, "fp32 master weights").group(ledger);
  app.add_flag("--accumulation", o.accumulation, "a second, fp32, copy of the gradients")
      .group(ledger);

  const char* const machine = "The GPUs (PL-5)";
  add_parsed(app, "--gpus", o.gpus, parse_count, "data-parallel GPUs; 1 if none").group(machine);
  add_parsed(app, "--gpu-memory", o.memory, parse_bytes, "of one GPU: 80GB or 80GiB")
      .group(machine);
  app.add_option("--spec", o.spec, "a data sheet, for its memory").group(machine);
  app.add_option("--from", o.run, "a run's folder, for the memory that its device reports")
      .excludes("--spec")
      .group(machine);
  add_choice(app, "--sharding", o.sharding, {kShardings.begin(), kShardings.end()},
             "what has to fit; zero3, the lecture's pooled memory, if none")
      .group(machine);
  add_parsed(app, "--overhead", o.overhead, parse_bytes, "of a GPU: context, buffers")
      .group(machine);
  add_parsed(app, "--activations", o.activations, parse_bytes,
             "of a GPU: the peak of `roofline plan activations`")
      .group(machine);
  app.add_flag("--explain", o.explain, "show each formula with its numbers");
}

Ledger ledger_of(const Options& o) {
  Ledger ledger = o.preset->ledger;
  if (!o.weights.empty()) ledger.weights = storage_bytes(o.weights, "--weights");
  if (!o.gradients.empty()) ledger.gradients = storage_bytes(o.gradients, "--gradients");
  if (o.optimizer != nullptr) ledger.state = o.optimizer->state;
  if (o.master) ledger.master = 4;
  if (o.accumulation) ledger.accumulation = 4;
  return ledger;
}

std::string convention_of(const Options& o, const Ledger& ledger) {
  return ledger == o.preset->ledger ? fmt::format("{} ({})", o.preset->name, o.preset->source)
                                    : fmt::format("{} changed by options", o.preset->name);
}

/// Bytes per parameter, or of `parameters`, addend by addend.
void add_ledger_lines(PlanSheet& sheet, const Options& o, const Ledger& ledger, double parameters,
                      const char* unit) {
  const char* const state = o.optimizer != nullptr ? o.optimizer->what : "fp32 m and v (adamw)";
  const auto line = [&](const char* item, double bytes, const char* convention,
                        const char* not_included, bool addend = true) {
    sheet.add(
        {.item = item,
         .value = number_cell(bytes * parameters),
         .unit = unit,
         .formula = "PL-4",
         .convention = convention,
         .not_included = not_included,
         .explanation = fmt::format("{} byte x {} parameters", bytes, number_text(parameters)),
         .addend = addend});
  };
  line("weights", ledger.weights, o.weights.c_str(), "quantisation scales");
  line("gradients", ledger.gradients, o.gradients.c_str(), "");
  line("fp32 gradient accumulation", ledger.accumulation, "", "");
  line("master weights", ledger.master, "", "");
  line("optimizer state", ledger.state, state, "");
  line("weights, gradients and states", ledger.total(), convention_of(o, ledger).c_str(),
       kNotInLedger, false);
}

void add_per_gpu_lines(PlanSheet& sheet, const Ledger& ledger, double parameters,
                       std::int64_t gpus) {
  for (const auto& [name, sharding] : kShardings) {
    const Ledger one = per_gpu(ledger, sharding, gpus);
    sheet.add({.item = fmt::format("on each of {} GPUs, {}", gpus, name),
               .value = number_cell(std::ceil(one.total() * parameters)),
               .unit = "byte",
               .formula = "PL-4",
               .convention = "ZeRO paper",
               .not_included = kNotInLedger,
               .explanation = fmt::format("{} parameters x ({:.6g} + {:.6g} + {:.6g} + {:.6g} + "
                                          "{:.6g}) byte",
                                          number_text(parameters), one.weights, one.gradients,
                                          one.accumulation, one.master, one.state)});
  }
}

struct Memory {
  std::optional<double> bytes;
  const char* source;
};

Memory memory_of(const Options& o) {
  constexpr const char* kSold = "as sold: the driver reports another size";
  if (o.memory) return {static_cast<double>(*o.memory), kSold};
  if (!o.run.empty()) {
    const auto bytes = read_run(o.run).environment_number("device/memory_bytes");
    if (!bytes) {
      throw std::runtime_error(fmt::format(
          "plan memory: {}/environment.json has no memory_bytes; --gpu-memory says it", o.run));
    }
    return {bytes, "as the run's device reports"};
  }
  if (!o.spec.empty()) return {spec_named(o.spec).memory_gb * 1e9, kSold};
  return {std::nullopt, ""};
}

/// What a GPU has left for the ledger; empty where its memory was not said.
std::optional<Bytes> room(const Options& o, const std::optional<double>& memory) {
  if (!memory) return std::nullopt;
  return Bytes{*memory - static_cast<double>(o.overhead.value_or(0)) -
               static_cast<double>(o.activations.value_or(0))};
}

void add_largest_lines(PlanSheet& sheet, const Ledger& ledger, Bytes left, std::int64_t gpus) {
  for (const auto& [name, sharding] : kShardings) {
    sheet.add({.item = fmt::format("largest model, {}", name),
               .value = number_cell(largest_model(left, ledger, sharding, gpus)),
               .unit = "parameter",
               .formula = "PL-5",
               .convention = sharding == Sharding::zero3 ? "pooled memory (lecture)" : "",
               .not_included = kNotInLedger,
               .explanation =
                   fmt::format("floor(M / bytes) = {} byte / {:.6g} byte a parameter",
                               number_text(left.value), per_gpu(ledger, sharding, gpus).total())});
  }
}

/// The exit code: 1 if the model does not fit.
int add_fit_line(PlanSheet& sheet, const Options& o, const Ledger& ledger, double parameters,
                 Bytes left, std::int64_t gpus, std::string& notes) {
  const double needed = std::ceil(per_gpu(ledger, o.sharding, gpus).total() * parameters);
  const bool fits = needed <= left.value;
  const char* const sharding = kShardings[static_cast<std::size_t>(o.sharding)].first;
  sheet.add({.item = fmt::format("fits, {}", sharding),
             .value = fits,
             .formula = "PL-5",
             .convention = fmt::format("{} of {}", bytes_text(needed), bytes_text(left.value)),
             .not_included = kNotInLedger});
  if (!fits) {
    notes += fmt::format(
        "roofline: plan memory: {} parameters need {} on each of {} GPUs ({}); there are {}\n",
        number_text(parameters), bytes_text(needed), gpus, sharding, bytes_text(left.value));
  }
  return fits ? 0 : 1;
}

int run_memory(const Options& o, Output& out) {
  const Model model = resolve(o.model);
  const Ledger ledger = ledger_of(o);
  const std::int64_t gpus = o.gpus.value_or(1);
  const auto [memory, memory_source] = memory_of(o);
  const std::optional<Bytes> left = room(o, memory);
  if (left && left->value <= 0) {
    throw std::runtime_error(
        fmt::format("plan memory: overhead and activations leave nothing of {}: fewer activations "
                    "(roofline plan activations) or a larger GPU",
                    bytes_text(*memory)));
  }

  PlanSheet sheet;
  add_lines(sheet, model);
  const auto input = [&](const char* item, std::optional<double> value, const char* unit,
                         const char* convention = "") {
    if (!value) return;
    sheet.add({.item = item,
               .value = number_cell(*value),
               .unit = unit,
               .formula = "input",
               .convention = convention});
  };
  input("GPUs", static_cast<double>(gpus), "GPU");
  input("memory of a GPU", memory, "byte", memory_source);
  input("overhead of a GPU", o.overhead, "byte");
  input("activations of a GPU", o.activations, "byte");
  add_ledger_lines(sheet, o, ledger, 1, "byte/parameter");
  if (left) {
    add_largest_lines(sheet, ledger, *left, gpus);
    sheet.summary = fmt::format("{} GPUs hold {} parameters ({}, {:.6g} byte each on one GPU)",
                                gpus, number_text(largest_model(*left, ledger, o.sharding, gpus)),
                                kShardings[static_cast<std::size_t>(o.sharding)].first,
                                per_gpu(ledger, o.sharding, gpus).total());
  }
  int code = 0;
  if (model.parameters) {
    const auto parameters = static_cast<double>(*model.parameters);
    add_ledger_lines(sheet, o, ledger, parameters, "byte");
    add_per_gpu_lines(sheet, ledger, parameters, gpus);
    if (left) code = add_fit_line(sheet, o, ledger, parameters, *left, gpus, out.notes);
  }
  sheet.print(out, o.explain);
  return code;
}

}  // namespace

Command add_plan_memory_command(Arguments plan) {
  const auto options = std::make_shared<Options>();
  const Arguments command =
      plan.add_subcommand("memory", "Weights, gradients, optimizer states; the largest model");
  add_options(command, *options);
  return {command, [options](Output& out) { return run_memory(*options, out); }};
}

}  // namespace roofline
