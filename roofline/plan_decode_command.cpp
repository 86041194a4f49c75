// `roofline plan decode`: KV cache, the least time of a step, tokens/s, prefill.
#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "roofline/number.h"
#include "roofline/plan.h"
#include "roofline/plan_commands.h"
#include "roofline/plan_options.h"
#include "roofline/roof.h"

namespace roofline {
namespace {

constexpr const char* kNotInStep =
    "communication, kernel launches, sampling, activations, attention's FLOPs";

struct Options {
  ModelOptions model;
  GpuOptions gpu;
  std::string weights = "bf16", cache = "bf16";
  std::optional<std::int64_t> batch, context, prompt, cache_per_token;
  std::optional<double> tokens_per_s, step_time, mfu;
  bool explain = false;
};

void add_options(Arguments app, Options& o) {
  add_model_options(app, o.model);
  add_gpu_options(app, o.gpu);
  app.add_option("--weights", o.weights, "their format: bf16, int8, int4, fp8_e4m3 ...")
      .capture_default_str();
  app.add_option("--kv", o.cache, "format of the KV cache").capture_default_str();
  add_parsed(app, "--kv-per-token", o.cache_per_token, parse_bytes,
             "size of the KV cache of a token, instead of --kv and sizes");
  add_parsed(app, "--batch", o.batch, parse_count, "sequences decoded together; 1 if none");
  add_parsed(app, "--context", o.context, parse_count, "tokens of each sequence in the cache");
  add_parsed(app, "--prompt", o.prompt, parse_count, "tokens of all prompts to prefill (PL-10)");
  add_parsed(app, "--mfu", o.mfu, parse_fraction, "of the prefill; 1, a bound, if none");
  const Arguments rate = app.add_alternatives("A measured rate, for its bandwidth utilisation");
  add_parsed(rate, "--tokens-per-s", o.tokens_per_s, parse_per_s, "of the whole batch");
  add_parsed(rate, "--step-time", o.step_time, parse_seconds, "of one step of the batch");
  app.add_flag("--explain", o.explain, "show each formula with its numbers");
}

/// The plan's quantities. GPUs are one big GPU: P and W times G.
struct Decode {
  double parameters;  // all: memory
  double active;      // that a token meets: FLOPs
  double streamed;    // active, without those that are only indexed: traffic
  double bytes_per_weight, gpus, batch, context, cache_per_token;
  Bytes weights() const { return Bytes{parameters * bytes_per_weight}; }
  Bytes read() const { return Bytes{streamed * bytes_per_weight}; }
  Bytes cache() const { return Bytes{context * cache_per_token}; }  // of a sequence
};

Decode decode_of(const Options& o, const Model& model) {
  const Architecture& a = model.shape;
  Decode d{};
  d.parameters = static_cast<double>(model.parameters_or_throw());
  d.active = static_cast<double>(*model.active);
  d.streamed = d.active - static_cast<double>(model.addends ? model.addends->indexed() : 0);
  d.bytes_per_weight = storage_bytes(o.weights, "--weights");
  d.gpus = static_cast<double>(o.gpu.gpus.value_or(1));
  d.batch = static_cast<double>(o.batch.value_or(1));
  d.context = static_cast<double>(o.context.value_or(0));
  if (o.cache_per_token) {
    d.cache_per_token = static_cast<double>(*o.cache_per_token);
  } else if (a.layers && a.kv_heads && a.head_dim) {
    d.cache_per_token =
        kv_bytes_per_token(*a.layers, *a.kv_heads, *a.head_dim, storage_bytes(o.cache, "--kv"));
  } else if (o.context) {
    throw std::invalid_argument(
        "--context: the KV cache needs --layers, --heads (or --kv-heads) and --head-dim; or "
        "--config, or --kv-per-token");
  }
  return d;
}

void add_memory_lines(PlanSheet& sheet, const Decode& d) {
  sheet.add({.item = "weights",
             .value = number_cell(d.weights().value),
             .unit = "byte",
             .formula = "PL-8",
             .not_included = "quantisation scales",
             .explanation = fmt::format("{} parameters x {} byte", number_text(d.parameters),
                                        d.bytes_per_weight)});
  if (d.cache_per_token == 0) return;
  sheet.add({.item = "KV cache of a token",
             .value = number_cell(d.cache_per_token),
             .unit = "byte",
             .formula = "PL-8",
             .convention = "2 L g d bytes: keys and values",
             .not_included = "unused rest of its last block"});
  sheet.add({.item = "KV cache of the batch",
             .value = number_cell(d.batch * d.cache().value),
             .unit = "byte",
             .formula = "PL-8",
             .not_included = "unused rest of its last block",
             .explanation = fmt::format("{} sequences x {} tokens x {} byte", number_text(d.batch),
                                        number_text(d.context), number_text(d.cache_per_token))});
}

std::optional<DecodeStep> step_of(const Decode& d, const std::optional<Speed>& bandwidth,
                                  const std::optional<Speed>& peak) {
  if (!bandwidth) return std::nullopt;
  std::optional<FlopsPerS> flops;
  if (peak) flops = FlopsPerS{d.gpus * peak->per_s};
  return decode_step(d.batch, d.cache(), d.read(), d.active, flops,
                     BytesPerS{d.gpus * bandwidth->per_s});
}

void add_step_lines(PlanSheet& sheet, const Decode& d, const std::optional<DecodeStep>& bound,
                    const std::optional<DecodeStep>& expected, const std::string& source) {
  const std::string left_out =
      (d.cache_per_token == 0 ? "KV cache (unknown), " : "") + std::string(kNotInStep);
  const auto line = [&](const char* item, auto&& of, const char* unit, const char* convention,
                        std::string explanation, bool addend = false) {
    sheet.add({.item = item,
               .value = bound ? Cell{of(*bound)} : Cell{},
               .expected = expected ? Cell{of(*expected)} : Cell{},
               .unit = unit,
               .formula = "PL-9",
               .convention = convention,
               .not_included = left_out,
               .source = source,
               .explanation = std::move(explanation),
               .addend = addend});
  };
  const auto ms = [](Seconds s) { return 1e3 * s.value; };
  const std::string of_all = fmt::format(" / ({} x ", number_text(d.gpus));
  const auto cache = [&](const DecodeStep& s) { return ms(s.cache); };
  const auto weights = [&](const DecodeStep& s) { return ms(s.weights); };
  const auto multiply = [&](const DecodeStep& s) { return ms(s.multiply); };
  const auto step = [&](const DecodeStep& s) { return ms(s.total()); };
  const auto rate = [&](const DecodeStep& s) { return d.batch / s.total().value; };
  line("reading the cache", cache, "ms", "B KV / W",
       fmt::format("{} x {} byte{}W)", number_text(d.batch), number_text(d.cache().value), of_all),
       true);
  line("reading the weights", weights, "ms", "all that are multiplied, once / W",
       fmt::format("{} byte{}W)", number_text(d.read().value), of_all), true);
  line("multiplying", multiply, "ms", "2 B N / P",
       fmt::format("2 x {} x {}{}P)", number_text(d.batch), number_text(d.active), of_all), true);
  line("step", step, "ms", "bound: cache + the longer of weights, multiplying", "");
  line("tokens/s", rate, "token/s", "bound: B / step", fmt::format("{} / step", d.batch));
}

/// Decoding is a GEMV: why it reaches so little of the peak.
void add_intensity_lines(PlanSheet& sheet, const Decode& d, const Gpu& gpu) {
  const FlopsPerS peak{gpu.peak->per_s};
  const BytesPerS bandwidth{gpu.bandwidth->per_s};
  const Flops flops{2 * d.batch * d.active};
  const Bytes bytes = d.read() + d.batch * d.cache();
  const double reach = std::fmin(1, (flops / bytes).value / ridge(peak, bandwidth).value);
  const bool same = gpu.peak->source == gpu.bandwidth->source;
  const std::string sources = gpu.peak->source + (same ? "" : "; " + gpu.bandwidth->source);
  const auto line = [&](const char* item, double value, const char* unit, const char* formula,
                        std::string convention, std::string explanation) {
    sheet.add({.item = item,
               .value = value,
               .unit = unit,
               .formula = formula,
               .convention = std::move(convention),
               .source = sources,
               .explanation = std::move(explanation)});
  };
  sheet.summary = fmt::format(
      "decoding is a GEMV: {:.4g} FLOP/byte against a ridge of {:.4g}, at most {:.3g} % of the "
      "peak",
      (flops / bytes).value, ridge(peak, bandwidth).value, 100 * reach);
  line("intensity", (flops / bytes).value, "FLOP/byte", "PL-11", "a step: 2 B N / bytes read",
       fmt::format("{} FLOPs / {} byte", number_text(flops.value), number_text(bytes.value)));
  line("ridge", ridge(peak, bandwidth).value, "FLOP/byte", "PL-11", "P / W",
       fmt::format("{} / {}", number_text(peak.value), number_text(bandwidth.value)));
  line("most of the peak", reach, "ratio", "PL-11", "min(1, intensity / ridge)", "");
  line("compute-bound from batch", compute_bound_batch(peak, bandwidth, d.bytes_per_weight),
       "sequence", "PL-9", "P c / (2 W), the cache aside",
       fmt::format("{} x {} / (2 x {})", number_text(peak.value), d.bytes_per_weight,
                   number_text(bandwidth.value)));
}

void add_measured_lines(PlanSheet& sheet, const Options& o, const Decode& d, const Gpu& gpu,
                        std::string& notes) {
  const double step = o.step_time ? *o.step_time : d.batch / *o.tokens_per_s;
  const Bytes bytes = d.read() + d.batch * d.cache();
  const double mbu =
      bandwidth_utilisation(bytes, Seconds{step}, BytesPerS{d.gpus * gpu.bandwidth->per_s});
  if (mbu > 1) {
    notes += fmt::format(
        "roofline: plan decode: MBU {:.4g} is above 1: the rate, the bandwidth or "
        "the bytes are wrong\n",
        mbu);
  }
  sheet.add(
      {.item = "MBU",
       .value = mbu,
       .unit = "ratio",
       .formula = "PL-9",
       .convention =
           mbu > 1 ? "above 1: a wrong rate, bandwidth or format" : "bytes of a step / (step W)",
       .not_included = "activations",
       .source = gpu.bandwidth->source,
       .explanation = fmt::format("{} byte / ({} s x {} byte/s)", number_text(bytes.value),
                                  number_text(step), number_text(d.gpus * gpu.bandwidth->per_s))});
}

void add_prefill_lines(PlanSheet& sheet, const Options& o, const Model& model, const Decode& d,
                       const Gpu& gpu) {
  const Architecture& a = model.shape;
  const auto tokens = static_cast<double>(*o.prompt);
  const bool shaped = a.layers && a.heads && a.head_dim;
  const double attention = shaped ? attention_flops_per_token(AttentionFlops::causal, *a.layers,
                                                              *a.heads * *a.head_dim, *o.prompt)
                                  : 0;
  const Flops flops = prefill_flops(d.active, tokens, attention);
  const double mfu = o.mfu.value_or(1);
  const auto time = [&](const std::optional<Speed>& speed, double factor) {
    return speed ? Cell{training_time(flops, d.gpus, FlopsPerS{speed->per_s}, factor).value}
                 : Cell{};
  };
  sheet.add({.item = "prefill FLOPs",
             .value = flops.value,
             .unit = "FLOP",
             .formula = "PL-10",
             .convention = shaped ? "2 N tokens + causal attention, one prompt" : "2 N tokens",
             .not_included = shaped ? "softmax, norms" : "attention (no sizes), softmax, norms",
             .explanation = fmt::format("(2 x {} + {}) x {}", number_text(d.active),
                                        number_text(attention), number_text(tokens))});
  sheet.add({.item = "prefill time",
             .value = time(gpu.peak, mfu),
             .expected = time(gpu.measured_gemm, 1),
             .unit = "s",
             .formula = "PL-10",
             .convention = fmt::format("MFU {}; expected: our GEMM's rate", mfu),
             .not_included = kNotInStep,
             .source = gpu.peak ? gpu.peak->source : ""});
}

/// Weights, cache and one layer's activations against the memory of all GPUs.
bool fits(PlanSheet& sheet, const Model& model, const Decode& d, double memory,
          std::string& notes) {
  const Architecture& a = model.shape;
  Bytes activations;
  if (a.hidden && a.heads) {  // one token of each sequence, whose scores are a row of the cache
    activations = transformer_layer(d.batch, 1, static_cast<double>(*a.hidden),
                                    static_cast<double>(*a.heads), 2, true)
                      .total();
  }
  const Bytes needed = d.weights() + d.batch * d.cache() + activations;
  const bool fits = needed.value <= d.gpus * memory;
  sheet.add(
      {.item = "memory needed",
       .value = number_cell(std::ceil(needed.value)),
       .unit = "byte",
       .formula = "PL-8",
       .convention = fmt::format("{} {}", fits ? "fits" : "exceeds", bytes_text(d.gpus * memory)),
       .not_included = "CUDA context, fragmentation, communication buffers"});
  if (!fits) {
    notes += fmt::format(
        "roofline: plan decode: {} are needed, {} GPUs of {} have {}: no rate for what does not "
        "run\n",
        bytes_text(needed.value), number_text(d.gpus), bytes_text(memory),
        bytes_text(d.gpus * memory));
  }
  return fits;
}

void add_input_lines(PlanSheet& sheet, const Decode& d, const Gpu& gpu) {
  const auto line = [&](const char* item, Cell value, Cell expected, const char* unit,
                        std::string source) {
    sheet.add({.item = item,
               .value = std::move(value),
               .expected = std::move(expected),
               .unit = unit,
               .formula = "input",
               .source = std::move(source)});
  };
  const auto speeds = [&](const char* item, const char* unit, const std::optional<Speed>& bound,
                          const std::optional<Speed>& measured) {
    if (!bound && !measured) return;
    line(item, bound ? Cell{bound->per_s} : Cell{}, measured ? Cell{measured->per_s} : Cell{}, unit,
         sources(bound, measured));
  };
  line("GPUs", number_cell(d.gpus), {}, "GPU", "");
  line("batch", number_cell(d.batch), {}, "sequence", "");
  if (d.context > 0) line("context", number_cell(d.context), {}, "token", "");
  speeds("peak", "FLOP/s", gpu.peak, gpu.measured_gemm);
  speeds("bandwidth", "byte/s", gpu.bandwidth, gpu.measured_gemv);
}

int run_decode(const Options& o, Output& out) {
  const Model model = resolve(o.model);
  const Gpu gpu = resolve(o.gpu, std::nullopt);
  const Decode d = decode_of(o, model);
  out.notes += gpu.warning;
  if (!o.gpu.run.empty() && !gpu.measured_gemv)
    out.notes += not_measured(o.gpu, "GEMV from memory");

  PlanSheet sheet;
  add_lines(sheet, model);
  add_input_lines(sheet, d, gpu);
  add_memory_lines(sheet, d);
  if (gpu.memory && !fits(sheet, model, d, *gpu.memory, out.notes)) {
    sheet.print(out, o.explain);
    return 1;
  }
  const auto bound = step_of(d, gpu.bandwidth, gpu.peak);
  const auto expected = step_of(d, gpu.measured_gemv, gpu.measured_gemm);
  if (bound || expected) {
    add_step_lines(sheet, d, bound, expected, sources(gpu.bandwidth, gpu.measured_gemv));
  }
  if (gpu.peak && gpu.bandwidth) add_intensity_lines(sheet, d, gpu);
  if (o.tokens_per_s || o.step_time) {
    if (!gpu.bandwidth) {
      throw std::invalid_argument(
          "--tokens-per-s, --step-time: --spec or --bandwidth is needed too");
    }
    add_measured_lines(sheet, o, d, gpu, out.notes);
  }
  if (o.prompt) add_prefill_lines(sheet, o, model, d, gpu);
  sheet.print(out, o.explain);
  return 0;
}

}  // namespace

Command add_plan_decode_command(Arguments plan) {
  const auto options = std::make_shared<Options>();
  const Arguments command =
      plan.add_subcommand("decode", "KV cache, the least time of a step, tokens/s, prefill");
  add_options(command, *options);
  return {command, [options](Output& out) { return run_decode(*options, out); }};
}

}  // namespace roofline
