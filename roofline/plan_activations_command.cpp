// `roofline plan activations`: what is stored for the backward pass, and what recomputing saves.
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <set>

#include "roofline/number.h"
#include "roofline/plan.h"
#include "roofline/plan_commands.h"
#include "roofline/plan_options.h"

namespace roofline {
namespace {

constexpr const char* kNotIncluded = "logits, weights, states, fragmentation";

enum class LayerKind { transformer, zero, mlp, unit };

struct Options {
  ModelOptions model;
  LayerKind layer = LayerKind::transformer;
  std::optional<std::int64_t> batch, sequence, global_batch, gpus;
  std::string format = "bf16", recompute = "none";
  bool flash = false, explain = false;
};

void add_options(Arguments app, Options& o) {
  add_model_options(app, o.model);
  add_choice(app, "--layer", o.layer,
             {{"transformer", LayerKind::transformer},
              {"zero", LayerKind::zero},
              {"mlp", LayerKind::mlp},
              {"unit", LayerKind::unit}},
             "what a layer stores: transformer (Korthikanti 2022, the default), zero (12 h, the "
             "ZeRO paper), mlp (the lecture), unit (1)");
  add_parsed(app, "--micro-batch,--batch", o.batch, parse_count,
             "sequences at once on a GPU; 1 if none");
  add_parsed(app, "--sequence", o.sequence, parse_count, "tokens in a sequence");
  app.add_option("--activation-format", o.format, "bf16, fp32 ...").capture_default_str();
  app.add_option("--recompute", o.recompute,
                 "none, selective (attention's scores), full (= every-1), every-<k> layers, sqrt")
      .capture_default_str();
  app.add_flag("--flash", o.flash, "flash attention: scores are never stored");
  add_parsed(app, "--global-batch", o.global_batch, parse_count,
             "sequences in a step: how many micro-batches accumulate (PL-7)");
  add_parsed(app, "--gpus", o.gpus, parse_count, "data-parallel GPUs; 1 if none");
  app.add_flag("--explain", o.explain, "show each formula with its numbers");
}

struct LayerPlan {
  LayerActivations bytes;
  std::string convention, explanation;
  const char* unit = "byte";
};

LayerPlan layer_of(const Options& o, const Architecture& a) {
  const auto b = static_cast<double>(o.batch.value_or(1));
  const double c = storage_bytes(o.format, "--activation-format");
  if (o.layer == LayerKind::unit) {
    return {mlp_layer(1, 1, 1), "one unit a layer (lecture)", "1", "layer"};
  }
  const auto h = static_cast<double>(known(a.hidden, "--hidden"));
  if (o.layer == LayerKind::mlp) {
    return {mlp_layer(b, h, c), "c B D (lecture)",
            fmt::format("{} byte x {} x {}", c, number_text(b), number_text(h))};
  }
  const auto s = static_cast<double>(known(o.sequence, "--sequence"));
  if (o.layer == LayerKind::zero) {
    return {zero_paper_layer(b, s, h, c), "12 s b h elements (ZeRO paper)",
            fmt::format("12 x {} x {} x {} x {} byte", number_text(s), number_text(b),
                        number_text(h), c)};
  }
  const auto heads = static_cast<double>(known(a.heads, "--heads"));
  return {transformer_layer(b, s, h, heads, c, o.flash),
          o.flash ? "s b h (16 c + 2), flash (Korthikanti 2022)"
                  : "s b h (16 c + 2) + (2 c + 1) a s^2 b (Korthikanti 2022)",
          fmt::format("{} x {} x {} x (16 x {} + 2){}", number_text(s), number_text(b),
                      number_text(h), c,
                      o.flash ? ""
                              : fmt::format(" + (2 x {} + 1) x {} x {}^2 x {}", c,
                                            number_text(heads), number_text(s), number_text(b)))};
}

/// k of "full", "sqrt" and "every-<k>"; empty for "none" and "selective".
std::optional<std::int64_t> group_of(const std::string& recompute, std::int64_t layers) {
  if (recompute == "none" || recompute == "selective") return std::nullopt;
  if (recompute == "full") return 1;
  if (recompute == "sqrt") return sqrt_group(layers);
  if (recompute.starts_with("every-")) {
    const std::int64_t k = parse_count(recompute.substr(6), "--recompute=every-<k>");
    if (k >= 1 && k <= layers) return k;
  }
  throw std::invalid_argument(
      fmt::format("--recompute: expected none, selective, full, sqrt or every-<k> with k from 1 to "
                  "{} layers; got \"{}\"",
                  layers, recompute));
}

class Lines {
 public:
  Lines(PlanSheet& sheet, const LayerPlan& plan) : sheet_(sheet), plan_(plan) {}

  void bytes(std::string item, Bytes value, std::string convention, std::string explanation = "",
             bool addend = false) {
    sheet_.add({.item = std::move(item),
                .value = number_cell(value.value),
                .unit = plan_.unit,
                .formula = "PL-6",
                .convention = std::move(convention),
                .not_included = kNotIncluded,
                .explanation = std::move(explanation),
                .addend = addend});
  }

  void peak(const std::string& item, const ActivationPeak& peak, std::string convention) {
    bytes(item, peak.total(), std::move(convention),
          fmt::format("{} stored + {} live", number_text(peak.stored.value),
                      number_text(peak.live.value)));
  }

 private:
  PlanSheet& sheet_;
  const LayerPlan& plan_;
};

void add_layer_lines(PlanSheet& sheet, const LayerPlan& layer) {
  Lines lines(sheet, layer);
  lines.bytes("input of a layer", layer.bytes.input, "stored, if the layer is recomputed");
  if (layer.bytes.scores.value > 0) {
    lines.bytes("grows with s", layer.bytes.linear, "all that selective recompute stores", "",
                true);
    lines.bytes("grows with s^2", layer.bytes.scores, "attention's scores", "", true);
  }
  lines.bytes("a layer", layer.bytes.total(), layer.convention, layer.explanation);
}

/// Peaks of every policy, and over the group size with its minimum.
void add_policy_lines(PlanSheet& sheet, const Options& o, const LayerPlan& layer,
                      std::int64_t layers) {
  Lines lines(sheet, layer);
  const LayerActivations& bytes = layer.bytes;
  lines.peak("peak, none", peak_storing_all(bytes, layers), "every layer stored");
  if (o.layer == LayerKind::transformer) {
    const double saved = 1 - (bytes.linear / bytes.total()).value;
    lines.peak("peak, selective", peak_selective(bytes, layers),
               o.flash ? "flash attention left nothing to save"
                       : fmt::format("all but the scores: {:.2f} % of a layer saved", 100 * saved));
  }
  const std::int64_t root = sqrt_group(layers), best = best_group(bytes, layers);
  std::set<std::int64_t> ks = {root, best, layers};
  for (std::int64_t k = 1; k <= layers; k *= 2) ks.insert(k);
  if (const auto k = group_of(o.recompute, layers)) ks.insert(*k);
  for (const std::int64_t k : ks) {
    std::string convention = k == 1 ? "full" : "";
    if (k == root) convention += convention.empty() ? "sqrt" : ", sqrt";
    if (k == best) convention += convention.empty() ? "least" : ", least";
    lines.peak(fmt::format("peak, every-{}", k), peak_in_groups(bytes, layers, k),
               std::move(convention));
  }
  const double ideal = std::sqrt(static_cast<double>(layers) * (bytes.input / bytes.total()).value);
  sheet.add({.item = "best group",
             .value = best,
             .unit = "layer",
             .formula = "PL-6",
             .convention = best == root
                               ? "sqrt(L) is the best here"
                               : fmt::format("not sqrt(L) = {}: an input costs {:.3g} of a layer",
                                             root, (bytes.input / bytes.total()).value),
             .not_included = kNotIncluded,
             .explanation = fmt::format("sqrt({} layers x {} / {}) = {:.3g}; sqrt(L) assumes that "
                                        "an input costs as much as a layer",
                                        layers, number_text(bytes.input.value),
                                        number_text(bytes.total().value), ideal)});
}

void add_chosen_lines(PlanSheet& sheet, const Options& o, const LayerPlan& layer,
                      std::int64_t layers) {
  Lines lines(sheet, layer);
  const auto k = group_of(o.recompute, layers);
  const bool selective = o.recompute == "selective";
  const ActivationPeak peak = k           ? peak_in_groups(layer.bytes, layers, *k)
                              : selective ? peak_selective(layer.bytes, layers)
                                          : peak_storing_all(layer.bytes, layers);
  lines.bytes(
      "stored", peak.stored, o.recompute,
      k ? fmt::format("ceil({} / {}) x {}", layers, *k, number_text(layer.bytes.input.value))
        : fmt::format("{} layers x {}", layers,
                      number_text((selective ? layer.bytes.linear : layer.bytes.total()).value)));
  lines.bytes("live while recomputing", peak.live, o.recompute,
              k ? fmt::format("{} x {}", *k, number_text(layer.bytes.total().value)) : "");
  lines.peak("peak", peak, o.recompute);
  if (std::string_view(layer.unit) == "byte") {
    sheet.summary = fmt::format("{} layers, recompute {}: {}", layers, o.recompute,
                                bytes_text(peak.total().value));
  }
  const auto cost = [&](const char* item, double forwards, const char* convention) {
    sheet.add({.item = item,
               .value = number_cell(forwards),
               .unit = "layer forward",
               .formula = "PL-6",
               .convention = convention,
               .not_included = "the pass itself; FLOPs of it: roofline plan time"});
  };
  cost("recomputed", k ? static_cast<double>(layers) : 0,
       k           ? "one forward pass more: 6 N D -> 8 N D (lecture)"
       : selective ? "attention's scores only"
                   : "nothing");
  cost("recomputed, if nothing is stored", forwards_storing_nothing(layers), "L (L - 1) / 2");
}

void add_batch_lines(PlanSheet& sheet, const Options& o, const Model& model) {
  const std::int64_t batch = o.batch.value_or(1);
  if (model.shape.vocab && o.sequence) {
    sheet.add(
        {.item = "logits",
         .value = number_cell(4.0 * static_cast<double>(batch) * static_cast<double>(*o.sequence) *
                              static_cast<double>(*model.shape.vocab)),
         .unit = "byte",
         .formula = "PL-6",
         .convention = "4 s b V, fp32",
         .not_included = "their gradient, softmax's copy",
         .explanation = fmt::format("4 x {} x {} x {}", *o.sequence, batch, *model.shape.vocab)});
  }
  if (!o.global_batch) return;
  const std::int64_t gpus = o.gpus.value_or(1);
  const std::int64_t steps = accumulation_steps(*o.global_batch, batch, gpus);
  sheet.add({.item = "micro-batches accumulated",
             .value = steps,
             .unit = "step",
             .formula = "PL-7",
             .convention = "activations grow with the micro-batch only",
             .not_included = "FLOPs and states stay the same",
             .explanation = fmt::format("{} / ({} x {} GPUs)", *o.global_batch, batch, gpus)});
  if (steps > 1 && model.parameters) {
    sheet.add({.item = "fp32 buffer of the gradients",
               .value = number_cell(4.0 * static_cast<double>(*model.parameters)),
               .unit = "byte",
               .formula = "PL-7",
               .convention = "where bf16 gradients accumulate",
               .not_included = "",
               .explanation = fmt::format("4 byte x {} parameters", *model.parameters)});
  }
}

int run_activations(const Options& o, Output& out) {
  const Model model = resolve(o.model);
  const std::int64_t layers = known(model.shape.layers, "--layers");
  const LayerPlan layer = layer_of(o, model.shape);
  PlanSheet sheet;
  add_lines(sheet, model);
  add_layer_lines(sheet, layer);
  add_policy_lines(sheet, o, layer, layers);
  add_chosen_lines(sheet, o, layer, layers);
  add_batch_lines(sheet, o, model);
  sheet.print(out, o.explain);
  return 0;
}

}  // namespace

Command add_plan_activations_command(Arguments plan) {
  const auto options = std::make_shared<Options>();
  const Arguments command =
      plan.add_subcommand("activations", "What the backward pass needs, stored or recomputed");
  add_options(command, *options);
  return {command, [options](Output& out) { return run_activations(*options, out); }};
}

}  // namespace roofline
