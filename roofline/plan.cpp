#include "roofline/plan.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

namespace roofline {
namespace {

constexpr double kForwards = 3;  // forward, and the backward pass at twice its FLOPs

}  // namespace

double attention_flops_per_token(AttentionFlops count, std::int64_t layers, std::int64_t width,
                                 std::int64_t sequence) {
  const double full = 4.0 * static_cast<double>(layers) * static_cast<double>(width) *
                      static_cast<double>(sequence);
  switch (count) {
    case AttentionFlops::none:
      return 0;
    case AttentionFlops::full:
      return full;
    case AttentionFlops::causal:
      return full / 2;
  }
  return 0;
}

std::vector<Work> forward_work(std::int64_t parameters, Recompute recompute) {
  return {{"parameters", 2.0 * static_cast<double>(parameters),
           recompute == Recompute::full ? 1.0 : 0.0}};
}

std::vector<Work> forward_work(const Parameters& p, Counted counted, Recompute recompute) {
  const double again = recompute == Recompute::full ? 1 : 0;
  const double outside_layers = counted == Counted::all ? again : 0;
  std::vector<Work> work;
  const auto add = [&](const char* name, std::int64_t parameters, double recomputed) {
    if (parameters > 0) {
      work.push_back({name, 2.0 * static_cast<double>(parameters), recomputed});
    }
  };
  const bool tied = p.head == 0;  // then the embedding is also the matrix of the output head
  if (counted == Counted::all && !tied) add("embedding", p.embedding, outside_layers);
  if (counted == Counted::all) add("positions", p.positions, outside_layers);
  add("QKV", p.qkv, again);
  add("projection", p.projection, again);
  add("FFN", p.mlp, again);
  if (counted != Counted::gemm) add("norms and biases", p.norms_and_biases, again);
  add("logits", tied ? p.embedding : p.head, outside_layers);
  return work;
}

std::vector<Work> attention_work(double flops_per_token, Recompute recompute,
                                 SelectiveCount count) {
  if (flops_per_token == 0) return {};
  double again = recompute == Recompute::none ? 0 : 1;
  if (recompute == Recompute::selective && count == SelectiveCount::korthikanti) again = kForwards;
  return {{"scores", flops_per_token / 2, again}, {"values", flops_per_token / 2, again}};
}

Flops model_flops(const std::vector<Work>& work, double tokens) {
  Flops sum;
  for (const Work& w : work) sum = sum + Flops{kForwards * w.flops_per_token * tokens};
  return sum;
}

Flops hardware_flops(const std::vector<Work>& work, double tokens) {
  Flops sum;
  for (const Work& w : work) {
    sum = sum + Flops{(kForwards + w.recomputed) * w.flops_per_token * tokens};
  }
  return sum;
}

Seconds training_time(Flops work, double gpus, FlopsPerS peak, double utilisation) {
  return work / (gpus * utilisation * peak);
}

double gpus_for(Flops work, Seconds within, FlopsPerS peak, double utilisation) {
  return std::ceil((work / (utilisation * peak) / within).value);
}

Flops flops_within(Seconds within, double gpus, FlopsPerS peak, double utilisation) {
  return within * (gpus * utilisation * peak);
}

double utilisation(Flops work, Seconds time, double gpus, FlopsPerS peak) {
  return (work / time / (gpus * peak)).value;
}

Ledger per_gpu(const Ledger& ledger, Sharding sharding, std::int64_t gpus) {
  const auto share = [&](double bytes, Sharding from) {
    return sharding < from ? bytes : bytes / static_cast<double>(gpus);
  };
  return {.weights = share(ledger.weights, Sharding::zero3),
          .gradients = share(ledger.gradients, Sharding::zero2),
          .accumulation = share(ledger.accumulation, Sharding::zero2),
          .master = share(ledger.master, Sharding::zero1),
          .state = share(ledger.state, Sharding::zero1)};
}

double largest_model(Bytes memory, const Ledger& ledger, Sharding sharding, std::int64_t gpus) {
  if (memory.value <= 0) return 0;
  // G x the bytes on one, in an order that keeps whole numbers whole: what is sharded counts once.
  const auto copies = static_cast<double>(gpus);
  const auto on_all = [&](double bytes, Sharding from) {
    return sharding < from ? copies * bytes : bytes;
  };
  const double bytes = on_all(ledger.weights, Sharding::zero3) +
                       on_all(ledger.gradients + ledger.accumulation, Sharding::zero2) +
                       on_all(ledger.master + ledger.state, Sharding::zero1);
  return std::floor(copies * memory.value / bytes);
}

LayerActivations mlp_layer(double batch, double width, double bytes_per_element) {
  const Bytes input{batch * width * bytes_per_element};
  return {.input = input, .linear = input, .scores = {}};
}

LayerActivations transformer_layer(double batch, double sequence, double hidden, double heads,
                                   double bytes_per_element, bool flash) {
  const double c = bytes_per_element, sbh = sequence * batch * hidden;
  // 16 elements: inputs of QKV, of the projection and of the MLP, Q, K, V, GeLU's input and output
  // (4 h each), inputs of both norms. 2 bytes: the masks of two dropouts.
  // Scores: softmax's output and dropout's, c each, and a mask.
  return {.input = Bytes{c * sbh},
          .linear = Bytes{(16 * c + 2) * sbh},
          .scores = Bytes{flash ? 0 : (2 * c + 1) * heads * sequence * sequence * batch}};
}

LayerActivations zero_paper_layer(double batch, double sequence, double hidden,
                                  double bytes_per_element) {
  const Bytes input{sequence * batch * hidden * bytes_per_element};
  return {.input = input, .linear = 12 * input, .scores = {}};
}

ActivationPeak peak_storing_all(const LayerActivations& layer, std::int64_t layers) {
  return {.stored = static_cast<double>(layers) * layer.total(), .live = {}};
}

ActivationPeak peak_selective(const LayerActivations& layer, std::int64_t layers) {
  return {.stored = static_cast<double>(layers) * layer.linear, .live = layer.scores};
}

ActivationPeak peak_in_groups(const LayerActivations& layer, std::int64_t layers, std::int64_t k) {
  const std::int64_t groups = (layers + k - 1) / k;
  return {.stored = static_cast<double>(groups) * layer.input,
          .live = static_cast<double>(k) * layer.total()};
}

std::int64_t best_group(const LayerActivations& layer, std::int64_t layers) {
  std::int64_t best = 1;
  for (std::int64_t k = 2; k <= layers; ++k) {
    if (peak_in_groups(layer, layers, k).total() < peak_in_groups(layer, layers, best).total()) {
      best = k;
    }
  }
  return best;
}

std::int64_t sqrt_group(std::int64_t layers) {
  return std::llround(std::sqrt(static_cast<double>(layers)));
}

double forwards_storing_nothing(std::int64_t layers) {
  const auto l = static_cast<double>(layers);
  return l * (l - 1) / 2;
}

std::int64_t accumulation_steps(std::int64_t global_batch, std::int64_t micro_batch,
                                std::int64_t gpus) {
  const std::int64_t micro_batches = global_batch / micro_batch;
  if (global_batch % micro_batch != 0 || micro_batches % gpus != 0) {
    throw std::invalid_argument(
        fmt::format("--global-batch: expected a multiple of --micro-batch {} x {} GPUs, got {}",
                    micro_batch, gpus, global_batch));
  }
  return micro_batches / gpus;
}

double kv_bytes_per_token(std::int64_t layers, std::int64_t kv_heads, std::int64_t head_dim,
                          double bytes_per_element) {
  return 2.0 * static_cast<double>(layers) * static_cast<double>(kv_heads) *
         static_cast<double>(head_dim) * bytes_per_element;
}

DecodeStep decode_step(double batch, Bytes cache_per_sequence, Bytes weights, double parameters,
                       std::optional<FlopsPerS> peak, BytesPerS bandwidth) {
  return {.cache = batch * cache_per_sequence / bandwidth,
          .weights = weights / bandwidth,
          .multiply = peak ? Flops{2 * batch * parameters} / *peak : Seconds{}};
}

double compute_bound_batch(FlopsPerS peak, BytesPerS bandwidth, double bytes_per_weight) {
  return (peak / bandwidth).value * bytes_per_weight / 2;
}

double bandwidth_utilisation(Bytes moved, Seconds step, BytesPerS bandwidth) {
  return (moved / step / bandwidth).value;
}

Flops prefill_flops(double parameters, double tokens, double attention_flops_per_token) {
  return Flops{(2 * parameters + attention_flops_per_token) * tokens};
}

}  // namespace roofline
