#include "roofline/plan_options.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>
#include <vector>

#include "roofline/dtype.h"
#include "roofline/number.h"
#include "roofline/run.h"
#include "roofline/spec.h"

namespace roofline {
namespace {

// ---- the rows of a run
// ---------------------------------------------------------------------------

/// The record that `fits` with the least `key`; null if none fits.
const Record* least(const std::vector<Record>& records, auto&& fits, auto&& key) {
  const Record* found = nullptr;
  for (const Record& r : records) {
    if (is_measured(r) && fits(r) && (found == nullptr || key(r) < key(*found))) found = &r;
  }
  return found;
}

/// 0 for the same shape; ln 2 for one dimension of twice the size.
double distance(const Case& a, const Case& b) {
  const auto apart = [](std::int64_t x, std::int64_t y) {
    return std::fabs(std::log(static_cast<double>(x) / static_cast<double>(y)));
  };
  return apart(a.m, b.m) + apart(a.n, b.n) + apart(a.k, b.k);
}

std::string row_name(const Record& r) {
  return fmt::format("{} by {}, run {}", name(r.what), r.implementation, r.run_id);
}

std::optional<Speed> measured_gemm(const Run& run, Dtype dtype, const std::optional<Case>& near) {
  const Case like = make_case(Op::gemm, dtype, 1, 1, 1);
  const auto fits = [&](const Record& r) {
    const Case& c = r.what;
    return c.op == Op::gemm && c.a == like.a && c.b == like.b && c.compute == like.compute &&
           c.layout == like.layout && c.batch == 1 && r.achieved_flops_per_s;
  };
  const auto key = [&](const Record& r) {
    const double far = near ? distance(r.what, *near) : -cost(r.what).flops.value;
    return std::pair(far, -*r.achieved_flops_per_s);  // of equals, the fastest
  };
  const Record* best = least(run.records, fits, key);
  if (best == nullptr) return std::nullopt;
  return Speed{*best->achieved_flops_per_s, row_name(*best)};
}

std::optional<Speed> measured_gemv(const Run& run, Dtype dtype) {
  const auto fits = [&](const Record& r) {
    return r.what.op == Op::gemv && r.what.a == dtype && r.cache == "cold" &&
           r.achieved_bytes_per_s;
  };
  const auto key = [](const Record& r) {
    return std::pair(-cost(r.what).bytes().value, -*r.achieved_bytes_per_s);
  };
  const Record* best = least(run.records, fits, key);
  if (best == nullptr) return std::nullopt;
  return Speed{*best->achieved_bytes_per_s, row_name(*best)};
}

// ---- the roofs of a data sheet
// -------------------------------------------------------------------

Dtype compute_dtype(const std::string& text) {
  if (const auto dtype = parse_dtype(text)) return *dtype;
  throw std::invalid_argument(
      fmt::format("--dtype: expected fp32, tf32, fp16, bf16, fp8_e4m3 ..., got \"{}\"", text));
}

/// The data sheet's peak and bandwidth among `roofs`; whose they are is `source`.
std::optional<Speed> sheet_peak(const std::vector<Roof>& roofs, Dtype dtype,
                                const std::string& source) {
  const Roof* roof = mfu_peak(make_case(Op::gemm, dtype, 1, 1, 1), roofs);
  if (roof == nullptr) return std::nullopt;
  return Speed{roof->per_s, source};
}

std::optional<Speed> sheet_bandwidth(const std::vector<Roof>& roofs, const std::string& source) {
  for (const Roof& r : roofs) {
    if (r.kind == Kind::datasheet && r.level == Level::memory) return Speed{r.per_s, source};
  }
  return std::nullopt;
}

/// Throws std::invalid_argument where a run's own data sheet is another one than the spec's.
void check_same_device(const Gpu& spec, const Gpu& run, const std::string& name,
                       const std::string& device) {
  const auto same = [](const std::optional<Speed>& a, const std::optional<Speed>& b) {
    return a && b && a->per_s == b->per_s;
  };
  if (same(spec.peak, run.peak) && same(spec.bandwidth, run.bandwidth)) return;
  throw std::invalid_argument(
      fmt::format("--spec={}: the run of --from was measured on {}; leave --spec out, the run has "
                  "its own roofs",
                  name, device));
}

/// Where a peak is what sheets print for 2:4 sparsity; empty elsewhere.
std::string sparsity_warning(double peak, Dtype dtype) {
  for (const Spec& spec : specs()) {
    const auto dense = sheet_peak(roofs_of(spec), dtype, "");
    if (dense && std::fabs(peak / dense->per_s - 2) < 2e-3) {
      return fmt::format(
          "roofline: --peak: {:.6g} FLOP/s is twice the dense {} peak of {}, the figure for 2:4 "
          "sparsity; training reaches none of that\n",
          peak, name(dtype), spec.name);
    }
  }
  return "";
}

}  // namespace

double parse_fraction(std::string_view text, std::string_view what) {
  const double value = parse_number(text, what);
  if (value > 0 && value <= 1) return value;
  throw std::invalid_argument(
      fmt::format("{}: expected a fraction above 0, at most 1; got {}", what, text));
}

double storage_bytes(std::string_view format, std::string_view what) {
  if (format == "int8") return 1;
  if (format == "int4") return 0.5;
  if (const auto dtype = parse_dtype(format)) return bytes_per_element(*dtype);
  throw std::invalid_argument(fmt::format(
      "{}: expected fp32, fp16, bf16, fp8_e4m3, fp8_e5m2, nvfp4, int8 or int4; got \"{}\"", what,
      format));
}

// ---- the model
// -----------------------------------------------------------------------------------

void add_model_options(Arguments app, ModelOptions& o) {
  constexpr const char* kGroup = "The model: --params, or --config, or sizes";
  const auto count = [&](const std::string& name, std::optional<std::int64_t>& to,
                         const std::string& help) {
    add_parsed(app, name, to, parse_count, help).group(kGroup);
  };
  count("--params", o.params, "parameters, such as 70B");
  count("--active-params", o.active_params, "of a mixture of experts: those that a token meets");
  app.add_option("--config", o.config, "a Hugging Face style config.json").group(kGroup);
  app.add_option("--family", o.family, "what the sizes belong to: gpt2, llama (default), qwen2 ...")
      .group(kGroup);
  count("--layers", o.sizes.layers, "transformer blocks");
  count("--hidden", o.sizes.hidden, "width of the model");
  count("--heads", o.sizes.heads, "query heads");
  count("--kv-heads", o.sizes.kv_heads, "as many as heads, if not given");
  count("--head-dim", o.sizes.head_dim, "hidden / heads, if not given");
  count("--ffn", o.sizes.ffn, "width inside the MLP; 4 hidden for gpt2, if not given");
  count("--vocab", o.sizes.vocab, "rows of the embedding");
  count("--positions", o.sizes.positions, "learned positions, for gpt2");
  app.add_flag("--tied", o.tied, "the output head is the embedding").group(kGroup);
  app.add_flag("--untied", o.untied, "it is not").excludes("--tied").group(kGroup);
  app.add_option("--count", o.count, "of parameters: exact, or megatron: its rounded formula")
      .one_of({"exact", "megatron"})
      .group(kGroup);
}

std::int64_t Model::parameters_or_throw() const {
  return known(parameters, "a model (--params, --config, or sizes)");
}

Model resolve(const ModelOptions& o) {
  Model model;
  Architecture& a = model.shape;
  if (!o.config.empty()) a = read_config(o.config);
  if (!o.family.empty()) a.family = find_family(o.family);
  if (o.tied || o.untied) a.family.tied = o.tied;
  for (const auto size : {&Architecture::layers, &Architecture::hidden, &Architecture::heads,
                          &Architecture::kv_heads, &Architecture::head_dim, &Architecture::ffn,
                          &Architecture::vocab, &Architecture::positions}) {
    if (o.sizes.*size) a.*size = o.sizes.*size;
  }
  a = with_defaults(a);

  if (a.mixture_of_experts && !(o.params && o.active_params)) {
    throw std::invalid_argument(
        "a mixture of experts needs both --params (all of them: memory) and --active-params (those "
        "that a token meets: FLOPs)");
  }
  if (o.active_params && !(o.params && *o.active_params <= *o.params)) {
    throw std::invalid_argument(fmt::format(
        "--active-params: expected at most --params, which is {}; got {}",
        o.params ? number_text(static_cast<double>(*o.params)) : "not given", *o.active_params));
  }
  if (o.params) {
    model.parameters = o.params;
    model.active = o.active_params ? o.active_params : o.params;
  } else if (o.count == "megatron") {
    model.parameters = model.active = megatron_parameters(a);
  } else if (a.layers && a.hidden && a.heads && a.ffn && a.vocab) {
    model.addends = count_parameters(a);
    model.parameters = model.active = model.addends->total();
  }
  return model;
}

void add_lines(PlanSheet& sheet, const Model& model) {
  if (!model.parameters) return;
  const auto line = [&](const char* item, std::int64_t value, const char* formula,
                        const char* convention, bool addend = false) {
    sheet.add({.item = item,
               .value = value,
               .unit = "parameter",
               .formula = formula,
               .convention = convention,
               .addend = addend});
  };
  if (!model.addends) {
    line("parameters", *model.parameters, "input", "");
    if (model.active != model.parameters) {
      line("active parameters", *model.active, "input", "FLOPs from these, memory from all");
    }
    return;
  }
  const Parameters& p = *model.addends;
  const auto addend = [&](const char* item, std::int64_t value, const char* convention) {
    if (value > 0) line(item, value, "PL-1", convention, true);
  };
  addend("embedding", p.embedding, p.head == 0 ? "tied: also the output head" : "");
  addend("positions", p.positions, "learned");
  addend("QKV", p.qkv, "");
  addend("projection", p.projection, "");
  addend("FFN", p.mlp, model.shape.family.gated ? "gated: 3 matrices" : "2 matrices");
  addend("norms and biases", p.norms_and_biases, "");
  addend("output head", p.head, "");
  line("parameters", p.total(), "PL-1", "exact");
}

// ---- the GPU
// -------------------------------------------------------------------------------------

void add_gpu_options(Arguments app, GpuOptions& o) {
  constexpr const char* kGroup = "The GPU";
  app.add_option("--spec", o.spec, "a data sheet, such as h100-sxm").group(kGroup);
  app.add_option("--from", o.run, "a run's folder: what we measured").group(kGroup);
  app.add_option("--dtype", o.dtype, "of the arithmetic").capture_default_str().group(kGroup);
  add_parsed(app, "--peak", o.peak, parse_flops_per_s, "dense, of one GPU: 989.5TFLOP/s")
      .group(kGroup);
  add_parsed(app, "--bandwidth", o.bandwidth, parse_bytes_per_s, "of one GPU: 3.35TB/s")
      .group(kGroup);
  add_parsed(app, "--gpu-memory", o.memory, parse_bytes, "80GB or 80GiB").group(kGroup);
  add_parsed(app, "--gpus", o.gpus, parse_count, "how many GPUs").group(kGroup);
}

std::string sources(const std::optional<Speed>& bound, const std::optional<Speed>& measured) {
  std::string text = bound ? bound->source : "";
  if (measured) text += (text.empty() ? "expected: " : "; expected: ") + measured->source;
  return text;
}

Gpu resolve(const GpuOptions& o, const std::optional<Case>& gemm) {
  const Dtype dtype = compute_dtype(o.dtype);
  Gpu gpu;
  if (!o.spec.empty()) {
    const Spec& spec = spec_named(o.spec);
    const auto roofs = roofs_of(spec);
    const std::string source = fmt::format("{} data sheet", spec.name);
    gpu.peak = sheet_peak(roofs, dtype, source);
    gpu.bandwidth = sheet_bandwidth(roofs, source);
    gpu.memory = spec.memory_gb * 1e9;
  }
  if (!o.run.empty()) {
    const Run run = read_run(o.run);
    const std::string device = run.records.empty() ? "no device" : run.records.front().device;
    const Gpu of_run{
        .peak = sheet_peak(run.roofs, dtype, device + " data sheet"),
        .bandwidth = sheet_bandwidth(run.roofs, device + " data sheet"),
        .measured_gemm = measured_gemm(run, dtype, gemm),
        .measured_gemv = measured_gemv(run, dtype),
        .memory = gpu.memory ? gpu.memory : run.environment_number("device/memory_bytes")};
    if (!o.spec.empty()) check_same_device(gpu, of_run, o.spec, device);
    gpu = of_run;
  }
  if (o.peak) {
    gpu.peak = Speed{*o.peak, "--peak"};
    gpu.warning = sparsity_warning(*o.peak, dtype);
  }
  if (o.bandwidth) gpu.bandwidth = Speed{*o.bandwidth, "--bandwidth"};
  if (o.memory) gpu.memory = static_cast<double>(*o.memory);
  return gpu;
}

std::string not_measured(const GpuOptions& o, std::string_view what) {
  return fmt::format(
      "roofline: --from={}: no {} {} was measured there; --dtype names another type\n", o.run,
      o.dtype, what);
}

}  // namespace roofline
