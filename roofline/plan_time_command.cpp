// `roofline plan time`: training FLOPs, days, and what follows from a measured speed.
#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "roofline/number.h"
#include "roofline/plan.h"
#include "roofline/plan_commands.h"
#include "roofline/plan_options.h"

namespace roofline {
namespace {

constexpr double kLectureMfu = 0.5;
constexpr const char* kLosses = "communication, pipeline bubbles, data loading, restarts";

struct Options {
  ModelOptions model;
  GpuOptions gpu;
  std::optional<std::int64_t> tokens, global_batch, micro_batch, sequence;
  std::optional<double> tokens_per_parameter;
  Counted counted = Counted::all;
  AttentionFlops attention = AttentionFlops::none;
  Recompute recompute = Recompute::none;
  SelectiveCount selective_count = SelectiveCount::strict;
  std::optional<double> mfu, achieved, tokens_per_s, tokens_per_s_per_gpu, step_time;
  std::optional<double> within, system_factor;
  bool explain = false;
};

void add_options(Arguments app, Options& o) {
  add_model_options(app, o.model);
  add_gpu_options(app, o.gpu);
  add_parsed(app, "--tokens", o.tokens, parse_count, "to train on, such as 15T");
  add_parsed(app, "--tokens-per-parameter", o.tokens_per_parameter, parse_number,
             "the same as a multiple of the parameters, such as 20");
  add_parsed(app, "--sequence", o.sequence, parse_count, "tokens in a sequence");
  add_parsed(app, "--global-batch", o.global_batch, parse_count, "sequences in a step");
  add_parsed(app, "--micro-batch", o.micro_batch, parse_count,
             "sequences at once on a GPU: with --from, which GEMM is nearest");

  const char* const counting = "How FLOPs are counted (PL-2)";
  add_choice(
      app, "--counted", o.counted,
      {{"all", Counted::all}, {"no-embedding", Counted::no_embedding}, {"gemm", Counted::gemm}},
      "parameters in 6 N D: all (lecture), no-embedding (NeMo), gemm (Megatron)")
      .group(counting);
  add_choice(app, "--attention", o.attention,
             {{"none", AttentionFlops::none},
              {"full", AttentionFlops::full},
              {"causal", AttentionFlops::causal}},
             "attention's own FLOPs: none (lecture), full (PaLM), causal (half)")
      .group(counting);
  add_choice(
      app, "--recompute", o.recompute,
      {{"none", Recompute::none}, {"selective", Recompute::selective}, {"full", Recompute::full}},
      "activations that the backward pass computes again")
      .group(counting);
  add_choice(app, "--selective-count", o.selective_count,
             {{"strict", SelectiveCount::strict}, {"korthikanti", SelectiveCount::korthikanti}},
             "selective recompute: one more forward pass, or as that paper prints it")
      .group(counting);

  // One of these says how fast the training goes.
  const Arguments pace = app.add_alternatives("How fast (PL-3): at most one");
  add_parsed(pace, "--mfu", o.mfu, parse_fraction, "model FLOP/s / peak; 0.5 (lecture), if none");
  add_parsed(pace, "--achieved", o.achieved, parse_flops_per_s,
             "FLOP/s of one GPU, recomputed ones among them");
  add_parsed(pace, "--tokens-per-s", o.tokens_per_s, parse_per_s, "of all GPUs");
  add_parsed(pace, "--tokens-per-s-per-gpu", o.tokens_per_s_per_gpu, parse_per_s, "of one GPU");
  add_parsed(pace, "--step-time", o.step_time, parse_seconds,
             "of --global-batch x --sequence tokens");

  add_parsed(app, "--within", o.within, parse_seconds,
             "a time such as 30d: the GPUs that take no longer, or the tokens that fit");
  add_parsed(app, "--system-factor", o.system_factor, parse_fraction,
             "training MFU / GEMM MFU: what a run's GEMM rate is multiplied by");
  app.add_flag("--explain", o.explain, "show each formula with its numbers");
}

// ---- FLOPs
// ---------------------------------------------------------------------------------------

std::vector<Work> work_of(const Options& o, const Model& model) {
  if (!model.active) return {};
  if (o.counted != Counted::all && !model.addends) {
    throw std::invalid_argument(
        "--counted: expected an architecture, to tell the parameters apart; got --params alone");
  }
  std::vector<Work> work = model.addends ? forward_work(*model.addends, o.counted, o.recompute)
                                         : forward_work(*model.active, o.recompute);
  const Architecture& a = model.shape;
  if (o.attention != AttentionFlops::none) {
    const double flops =
        attention_flops_per_token(o.attention, known(a.layers, "--layers"),
                                  known(a.heads, "--heads") * known(a.head_dim, "--head-dim"),
                                  known(o.sequence, "--sequence"));
    for (Work& w : attention_work(flops, o.recompute, o.selective_count)) work.push_back(w);
  } else if (o.recompute == Recompute::selective) {
    throw std::invalid_argument(
        "--recompute=selective repeats attention's own FLOPs; --attention=full or causal counts "
        "them");
  }
  return work;
}

std::string counting_convention(const Options& o) {
  const char* const parameters[] = {"6 N D (lecture)", "6 N D without lookups (NeMo)",
                                    "6 N D of GEMM weights (Megatron)"};
  const char* const attention[] = {"", " + full attention", " + causal attention"};
  return fmt::format("{}{}", parameters[static_cast<int>(o.counted)],
                     attention[static_cast<int>(o.attention)]);
}

/// The formula of model_flops(), or of hardware_flops(), with its numbers.
std::string sum_text(const std::vector<Work>& work, double tokens, bool recomputed) {
  const auto times = [&](const Work& w) { return 3 + (recomputed ? w.recomputed : 0); };
  if (work.size() == 1) {
    const double n = work[0].flops_per_token / 2, factor = 2 * times(work[0]);
    return fmt::format("{0} N D = {0} x {1} x {2}", factor, number_text(n), number_text(tokens));
  }
  std::string text;
  for (const Work& w : work) {
    text += fmt::format("{}{} x {} ({})", text.empty() ? "" : " + ", times(w),
                        number_text(w.flops_per_token), w.name);
  }
  return fmt::format("D sum = {} x ({})", number_text(tokens), text);
}

void add_flops_lines(PlanSheet& sheet, const Options& o, const std::vector<Work>& work,
                     double tokens) {
  const Flops counted = model_flops(work, tokens), done = hardware_flops(work, tokens);
  const std::string attention =
      o.attention == AttentionFlops::none ? "attention's own FLOPs, " : "";
  const std::string others = attention + "softmax, norms, activation functions";
  for (const Work& w : work) {
    if (work.size() == 1) break;
    sheet.add({.item = w.name + " FLOPs",
               .value = (3 + w.recomputed) * w.flops_per_token * tokens,
               .unit = "FLOP",
               .formula = "PL-2",
               .convention = w.recomputed > 0 ? "with recompute" : "",
               .addend = true});
  }
  sheet.add({.item = "model FLOPs",
             .value = counted.value,
             .unit = "FLOP",
             .formula = "PL-2",
             .convention = counting_convention(o),
             .not_included = others + ", recompute",
             .explanation = sum_text(work, tokens, false)});
  sheet.add({.item = "petaflop/s-days",
             .value = (counted / kPetaflopDay).value,
             .unit = "PF-day",
             .formula = "PL-2",
             .convention = "8.64e19 FLOPs each",
             .not_included = others + ", recompute"});
  if (o.recompute == Recompute::none) return;
  sheet.add({.item = "hardware FLOPs",
             .value = done.value,
             .unit = "FLOP",
             .formula = "PL-2",
             .convention = o.recompute == Recompute::full ? "full recompute: 8 N D (lecture)"
                           : o.selective_count == SelectiveCount::strict
                               ? "selective recompute, one forward more (strict)"
                               : "selective recompute as printed (Korthikanti 2022)",
             .not_included = others,
             .explanation = sum_text(work, tokens, true)});
  sheet.add({.item = "hardware / model FLOPs",
             .value = (done / counted).value,
             .unit = "ratio",
             .formula = "PL-2",
             .not_included = others});
}

// ---- the pace
// ------------------------------------------------------------------------------------

/// How fast one GPU goes, in the FLOPs that count, and what that rests on.
struct Pace {
  std::optional<FlopsPerS> model;
  std::optional<double> tokens_per_s;  // of one GPU
  std::string convention, losses, source;
  std::string formula;    // of `model`, with its numbers
  bool computed = false;  // from a measured rate: MFU is an output
};

double gpus_or_throw(const Options& o) { return static_cast<double>(known(o.gpu.gpus, "--gpus")); }

std::optional<Pace> pace_of(const Options& o, const std::vector<Work>& work, const Gpu& gpu) {
  Pace pace{.losses = "evaluation, restarts", .computed = true};
  if (o.tokens_per_s_per_gpu) {
    pace.tokens_per_s = *o.tokens_per_s_per_gpu;
    pace.convention = "tokens/s of one GPU as given";
  } else if (o.tokens_per_s) {
    pace.tokens_per_s = *o.tokens_per_s / gpus_or_throw(o);
    pace.convention = "tokens/s as given";
  } else if (o.step_time) {
    const auto tokens = static_cast<double>(known(o.global_batch, "--global-batch")) *
                        static_cast<double>(known(o.sequence, "--sequence"));
    pace.tokens_per_s = tokens / *o.step_time / static_cast<double>(o.gpu.gpus.value_or(1));
    pace.convention = "global batch x sequence / step time";
  }
  if (pace.tokens_per_s) {
    if (!work.empty()) {
      pace.model = model_flops(work, *pace.tokens_per_s) / Seconds{1};
      pace.formula = number_text(pace.model->value) + " FLOP/s";
    }
    return pace;
  }
  if (o.achieved) {
    const double counts = work.empty() ? 1 : (model_flops(work, 1) / hardware_flops(work, 1)).value;
    pace.model = FlopsPerS{*o.achieved * counts};
    pace.convention = "FLOP/s of one GPU as given";
    pace.formula = number_text(pace.model->value) + " FLOP/s";
    if (!work.empty()) pace.tokens_per_s = *o.achieved / hardware_flops(work, 1).value;
    return pace;
  }
  if (!gpu.peak) return std::nullopt;
  const double mfu = o.mfu.value_or(kLectureMfu);
  return Pace{.model = FlopsPerS{mfu * gpu.peak->per_s},
              .convention = fmt::format("MFU {}{}", mfu, o.mfu ? "" : " (lecture)"),
              .losses = std::string(kLosses) + ", beyond what MFU holds",
              .source = gpu.peak->source,
              .formula = fmt::format("{} FLOP/s x {}", number_text(gpu.peak->per_s), mfu)};
}

void add_utilisation_lines(PlanSheet& sheet, const Options& o, const std::vector<Work>& work,
                           const Gpu& gpu, const Pace& pace, std::string& notes) {
  if (pace.tokens_per_s && o.gpu.gpus) {
    sheet.add({.item = "tokens/s",
               .value = *pace.tokens_per_s * gpus_or_throw(o),
               .unit = "token/s",
               .formula = "PL-3",
               .convention = pace.convention,
               .not_included = pace.losses});
  }
  if (!pace.model) return;
  sheet.add({.item = "model FLOP/s of one GPU",
             .value = pace.model->value,
             .unit = "FLOP/s",
             .formula = "PL-3",
             .convention = work.empty() ? pace.convention : counting_convention(o),
             .not_included = "recompute"});
  if (!gpu.peak) return;
  const FlopsPerS peak{gpu.peak->per_s};
  const auto line = [&](const char* item, Flops in_a_second, const char* left_out) {
    const double u = utilisation(in_a_second, Seconds{1}, 1, peak);
    const char* const flag = u > 1 ? "; above 1: a wrong rate, peak or convention" : "";
    if (u > 1) {
      notes += fmt::format(
          "roofline: plan time: {} {:.4g} is above 1: the rate, the peak (dense?) or the attention "
          "convention is wrong\n",
          item, u);
    }
    sheet.add({.item = item,
               .value = u,
               .unit = "ratio",
               .formula = "PL-3",
               .convention = pace.convention + flag,
               .not_included = left_out,
               .source = gpu.peak->source,
               .explanation = fmt::format("{} / {}", number_text(in_a_second.value),
                                          number_text(peak.value))});
  };
  const Flops model{pace.model->value};
  line("MFU", model, "recompute");
  if (!work.empty()) {
    line("HFU", (hardware_flops(work, 1) / model_flops(work, 1)).value * model, "");
  }
}

// ---- time and its inverses
// -----------------------------------------------------------------------

Cell days(Seconds time) { return (time / kDay).value; }

/// Days at the measured rate of a GEMM times a system factor; empty where one is unknown.
Cell expected_days(const Gpu& gpu, Flops work, double gpus, std::optional<double> factor) {
  if (!gpu.measured_gemm || !factor) return {};
  return days(training_time(work, gpus, FlopsPerS{gpu.measured_gemm->per_s}, *factor));
}

void add_time_lines(PlanSheet& sheet, const Options& o, const std::vector<Work>& work,
                    const Gpu& gpu, const std::optional<Pace>& pace, double tokens) {
  const double gpus = gpus_or_throw(o);
  const Flops counted = model_flops(work, tokens), done = hardware_flops(work, tokens);
  const auto line = [&](const char* item, Cell value, Cell expected, std::string convention,
                        std::string losses, std::string explanation) {
    sheet.add({.item = item,
               .value = std::move(value),
               .expected = std::move(expected),
               .unit = "day",
               .formula = "PL-3",
               .convention = std::move(convention),
               .not_included = std::move(losses),
               .source = sources(gpu.peak, gpu.measured_gemm),
               .explanation = std::move(explanation)});
  };
  if (work.empty()) {  // tokens and tokens/s are enough
    if (!pace || !pace->tokens_per_s) return;
    const double rate = gpus * *pace->tokens_per_s;
    line("training time", days(Seconds{tokens / rate}), {}, pace->convention, pace->losses,
         fmt::format("D / tokens/s = {} / {} / 86400 s", number_text(tokens), number_text(rate)));
    return;
  }
  if (pace && pace->model) {
    const auto explain = [&](Flops flops) {
      return fmt::format("C / (G P u) = {} / ({} x {}) / 86400 s", number_text(flops.value),
                         number_text(gpus), pace->formula);
    };
    sheet.add({.item = "model FLOPs a day",
               .value = flops_within(kDay, gpus, *pace->model, 1).value,
               .unit = "FLOP/day",
               .formula = "PL-3",
               .convention = pace->convention,
               .not_included = pace->losses,
               .source = pace->source,
               .explanation =
                   fmt::format("G P u day = {} x {} x 86400 s", number_text(gpus), pace->formula)});
    line("training time", days(training_time(counted, gpus, *pace->model, 1)),
         expected_days(gpu, counted, gpus, o.system_factor), pace->convention, pace->losses,
         explain(counted));
    if (o.recompute != Recompute::none && !pace->computed) {
      line("training time with recompute", days(training_time(done, gpus, *pace->model, 1)),
           expected_days(gpu, done, gpus, o.system_factor),
           "hardware FLOPs at the same utilisation (HFU)", pace->losses, explain(done));
    }
  }
  if (!gpu.peak && !gpu.measured_gemm) return;
  line("training time, bound",
       gpu.peak ? days(training_time(done, gpus, FlopsPerS{gpu.peak->per_s}, 1)) : Cell{},
       expected_days(gpu, done, gpus, 1),
       gpu.measured_gemm ? "at the peak; expected: at our GEMM's rate" : "at the peak, MFU 1",
       std::string("all losses: ") + kLosses,
       fmt::format("C / (G P) = {} / ({} x {}) / 86400 s", number_text(done.value),
                   number_text(gpus), gpu.peak ? number_text(gpu.peak->per_s) : "P"));
}

/// The inverses. Returns the exit code: 1 where the GPUs are too few for the time.
int add_within_lines(PlanSheet& sheet, const Options& o, const std::vector<Work>& work,
                     const Pace& pace, std::optional<double> tokens) {
  const Seconds within{*o.within};
  const auto line = [&](const char* item, double value, const char* unit, std::string explanation) {
    sheet.add({.item = fmt::format("{} in {:.6g} days", item, (within / kDay).value),
               .value = number_cell(value),
               .unit = unit,
               .formula = "PL-3",
               .convention = pace.convention,
               .not_included = pace.losses,
               .source = pace.source,
               .explanation = std::move(explanation)});
  };
  if (o.gpu.gpus) {
    const Flops budget = flops_within(within, gpus_or_throw(o), *pace.model, 1);
    line("model FLOPs", budget.value, "FLOP",
         fmt::format("G P u T = {} x {} x {} s", *o.gpu.gpus, pace.formula,
                     number_text(within.value)));
    if (!work.empty() && !tokens) {
      const double each = model_flops(work, 1).value;
      line("tokens", std::floor(budget.value / each), "token",
           fmt::format("G P u T / C(1) = {} / {}", number_text(budget.value), number_text(each)));
    }
  }
  if (work.empty() || !tokens) return 0;
  const Flops counted = model_flops(work, *tokens);
  const double needed = gpus_for(counted, within, *pace.model, 1);
  line("GPUs needed", needed, "GPU",
       fmt::format("C / (P u T) = {} / ({} x {} s), rounded up", number_text(counted.value),
                   pace.formula, number_text(within.value)));
  return o.gpu.gpus && gpus_or_throw(o) < needed ? 1 : 0;
}

/// The GEMM of the MLP, whose rate in a run is nearest to this training's.
std::optional<Case> gemm_of(const Options& o, const Architecture& a) {
  if (!o.micro_batch || !o.sequence || !a.hidden || !a.ffn) return std::nullopt;
  return Case{.op = Op::gemm, .m = *o.micro_batch * *o.sequence, .n = *a.ffn, .k = *a.hidden};
}

std::optional<double> tokens_of(const Options& o, const Model& model) {
  if (o.tokens) return static_cast<double>(*o.tokens);
  if (!o.tokens_per_parameter) return std::nullopt;
  return *o.tokens_per_parameter * static_cast<double>(model.parameters_or_throw());
}

std::string summary(const Options& o, const Gpu& gpu, const std::vector<Work>& work,
                    const std::optional<Pace>& pace, std::optional<double> tokens) {
  if (work.empty() || !tokens || !o.gpu.gpus) return "";
  const double gpus = gpus_or_throw(o);
  std::string text;
  if (pace && pace->model) {
    const Flops counted = model_flops(work, *tokens);
    text =
        fmt::format("{:.2f} days: {}", (training_time(counted, gpus, *pace->model, 1) / kDay).value,
                    pace->convention);
  }
  if (gpu.measured_gemm) {
    const FlopsPerS rate{gpu.measured_gemm->per_s};
    const Seconds bound = training_time(hardware_flops(work, *tokens), gpus, rate, 1);
    text += fmt::format("{}measured {} GEMMs{} would bound it at {:.2f} days",
                        text.empty() ? "" : "; ", o.gpu.dtype,
                        gpu.peak ? fmt::format(", MFU {:.2f},", rate.value / gpu.peak->per_s) : "",
                        (bound / kDay).value);
  }
  return text;
}

int run_time(const Options& o, Output& out) {
  const Model model = resolve(o.model);
  const Gpu gpu = resolve(o.gpu, gemm_of(o, model.shape));
  const std::vector<Work> work = work_of(o, model);
  const std::optional<double> tokens = tokens_of(o, model);
  const std::optional<Pace> pace = pace_of(o, work, gpu);
  out.notes += gpu.warning;
  if (!o.gpu.run.empty() && !gpu.measured_gemm) out.notes += not_measured(o.gpu, "GEMM");

  PlanSheet sheet{.summary = summary(o, gpu, work, pace, tokens), .lines = {}};
  add_lines(sheet, model);
  const auto input = [&](const char* item, Cell value, const char* unit, std::string source) {
    sheet.add({.item = item,
               .value = std::move(value),
               .unit = unit,
               .formula = "input",
               .source = std::move(source)});
  };
  if (tokens) input("tokens", number_cell(*tokens), "token", "");
  if (o.gpu.gpus) input("GPUs", *o.gpu.gpus, "GPU", "");
  if (gpu.peak) input("peak", gpu.peak->per_s, "FLOP/s", gpu.peak->source);
  if (gpu.measured_gemm) {
    sheet.add({.item = "GEMM",
               .expected = gpu.measured_gemm->per_s,
               .unit = "FLOP/s",
               .formula = "input",
               .convention = "measured",
               .source = gpu.measured_gemm->source});
  }

  if (tokens && !work.empty()) add_flops_lines(sheet, o, work, *tokens);
  if (pace && pace->computed) add_utilisation_lines(sheet, o, work, gpu, *pace, out.notes);
  if (tokens && o.gpu.gpus) add_time_lines(sheet, o, work, gpu, pace, *tokens);
  int code = 0;
  if (o.within) {
    if (!pace || !pace->model) {
      throw std::invalid_argument(
          "--within: expected a speed: --spec or --peak, or --achieved, or --params with tokens/s");
    }
    code = add_within_lines(sheet, o, work, *pace, tokens);
    if (code != 0) {
      out.notes += fmt::format("roofline: plan time: {} GPUs are too few\n", *o.gpu.gpus);
    }
  }
  if (sheet.lines.empty()) {
    throw std::invalid_argument(
        "plan time: expected a model and tokens, such as --params=70B --tokens=15T");
  }
  sheet.print(out, o.explain);
  return code;
}

}  // namespace

Command add_plan_time_command(Arguments plan) {
  const auto options = std::make_shared<Options>();
  const Arguments command =
      plan.add_subcommand("time", "Training FLOPs, days, GPUs for a deadline, MFU");
  add_options(command, *options);
  return {command, [options](Output& out) { return run_time(*options, out); }};
}

}  // namespace roofline
