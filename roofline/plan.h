// The planner's formulas, one function each, under the ids that `roofline plan` prints. L layers,
// h hidden, a heads of d, g KV heads, V vocabulary, s sequence, b micro-batch, N parameters,
// D tokens, G GPUs, P FLOP/s and W byte/s of one GPU. PL-1, parameters, is in architecture.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "roofline/architecture.h"
#include "roofline/units.h"

namespace roofline {

inline constexpr Seconds kDay{86400};
inline constexpr Flops kPetaflopDay{1e15 * 86400};

// ---- PL-2: training FLOPs -----------------------------------------------------------------------

/// Which parameters 6 N D counts.
enum class Counted {
  all,           // the lecture: N
  no_embedding,  // NeMo: without those that are only indexed
  gemm,          // Megatron: the matrices that are multiplied, the output head among them
};

/// How attention's own FLOPs (scores, and the weighting of the values) are counted.
enum class AttentionFlops {
  none,    // the lecture: 6 N D has none
  full,    // PaLM, NeMo: every position with every position
  causal,  // half of that: what a causal kernel computes
};

/// What the backward pass computes again.
enum class Recompute {
  none,
  selective,  // attention's own FLOPs (Korthikanti 2022)
  full,       // the whole forward pass
};

/// How selective recompute is counted.
enum class SelectiveCount {
  strict,       // one more forward pass of attention's own FLOPs
  korthikanti,  // as printed there, s/6h -> s/3h: as much again as forward and backward
};

/// One addend of the forward pass.
struct Work {
  std::string name;
  double flops_per_token;  // of the forward pass; the backward pass takes twice that
  double recomputed;       // how many forward passes of it the backward pass repeats
};

/// 2 GEMMs of 2 s a d for each token and layer, half of that under a causal mask.
double attention_flops_per_token(AttentionFlops count, std::int64_t layers, std::int64_t width,
                                 std::int64_t sequence);

/// 2 FLOPs per parameter and token, whatever the parameters are.
std::vector<Work> forward_work(std::int64_t parameters, Recompute recompute);

/// The same by addend. Full recompute repeats all of it if all parameters are counted (8 N D),
/// else the layers only: the output head is not repeated.
std::vector<Work> forward_work(const Parameters& p, Counted counted, Recompute recompute);

/// Attention's own addends: scores Q K^T and their weighting of V.
std::vector<Work> attention_work(double flops_per_token, Recompute recompute, SelectiveCount count);

/// C = 3 x forward x D: 6 N D (lecture). The numerator of MFU.
Flops model_flops(const std::vector<Work>& work, double tokens);
/// C and what is recomputed: 8 N D with full recompute. The numerator of HFU.
Flops hardware_flops(const std::vector<Work>& work, double tokens);

// ---- PL-3: time ---------------------------------------------------------------------------------

/// T = C / (G P u). u is a utilisation: MFU for model FLOPs, HFU for hardware FLOPs.
Seconds training_time(Flops work, double gpus, FlopsPerS peak, double utilisation);
/// Its inverses: G for a deadline (the next whole number), C for a budget, u from a step.
double gpus_for(Flops work, Seconds within, FlopsPerS peak, double utilisation);
Flops flops_within(Seconds within, double gpus, FlopsPerS peak, double utilisation);
double utilisation(Flops work, Seconds time, double gpus, FlopsPerS peak);

// ---- PL-4, PL-5: the memory of training ---------------------------------------------------------

/// Bytes per parameter.
struct Ledger {
  double weights = 2;
  double gradients = 2;
  double accumulation = 0;  // a second, fp32, copy of the gradients
  double master = 0;        // an fp32 copy of the weights
  double state = 8;         // the optimizer's, fp32

  double total() const { return weights + gradients + accumulation + master + state; }
  friend bool operator==(const Ledger&, const Ledger&) = default;
};

/// ZeRO, Rajbhandari et al. 2020: what is divided among the GPUs. Optimizer states and master
/// weights from zero1 on, gradients from zero2 on, weights in zero3.
enum class Sharding { ddp, zero1, zero2, zero3 };

/// Bytes per parameter on one of `gpus`.
Ledger per_gpu(const Ledger& ledger, Sharding sharding, std::int64_t gpus);

/// N_max = floor(G M / bytes per parameter on all GPUs), M what one GPU has left for the ledger.
/// Zero where nothing is left.
double largest_model(Bytes memory, const Ledger& ledger, Sharding sharding, std::int64_t gpus);

// ---- PL-6, PL-7: activations --------------------------------------------------------------------

/// What one layer leaves for its backward pass.
struct LayerActivations {
  Bytes input;   // all that is stored of a layer that is recomputed
  Bytes linear;  // grows with s
  Bytes scores;  // grows with s^2: selective recompute and flash attention save it
  Bytes total() const { return linear + scores; }
};

/// Lecture: an MLP's layer stores what goes in, c B D.
LayerActivations mlp_layer(double batch, double width, double bytes_per_element);
/// Korthikanti et al. 2022: s b h (16 c + 2) + (2 c + 1) a s^2 b; at c = 2, 34 s b h + 5 a s^2 b.
LayerActivations transformer_layer(double batch, double sequence, double hidden, double heads,
                                   double bytes_per_element, bool flash);
/// ZeRO paper, section 3.2: 12 s b h elements.
LayerActivations zero_paper_layer(double batch, double sequence, double hidden,
                                  double bytes_per_element);

/// Stored between the passes, and alive besides while a part is recomputed.
struct ActivationPeak {
  Bytes stored, live;
  Bytes total() const { return stored + live; }
};

ActivationPeak peak_storing_all(const LayerActivations& layer, std::int64_t layers);
/// Stores all but the scores; one layer's scores live.
ActivationPeak peak_selective(const LayerActivations& layer, std::int64_t layers);
/// Stores the inputs of groups of k layers: ceil(L / k) inputs, one group alive.
ActivationPeak peak_in_groups(const LayerActivations& layer, std::int64_t layers, std::int64_t k);

/// The k of the least peak; the smallest of equals.
std::int64_t best_group(const LayerActivations& layer, std::int64_t layers);
/// k = round(sqrt(L)), Chen et al. 2016: the best where an input costs as much as a layer.
std::int64_t sqrt_group(std::int64_t layers);
/// Layer forwards if nothing is stored but the first input: layer i is reached by i - 1 others.
double forwards_storing_nothing(std::int64_t layers);

/// Steps to accumulate = global / (b G). Throws std::invalid_argument where it is no whole number.
std::int64_t accumulation_steps(std::int64_t global_batch, std::int64_t micro_batch,
                                std::int64_t gpus);

// ---- PL-8 to PL-10: inference -------------------------------------------------------------------

/// Keys and values: 2 L g d bytes.
double kv_bytes_per_token(std::int64_t layers, std::int64_t kv_heads, std::int64_t head_dim,
                          double bytes_per_element);

/// One step of decoding for a batch. Nothing overlaps with reading the cache, which is attention's
/// own time; the matrices are read while they are multiplied.
struct DecodeStep {
  Seconds cache;     // B KV / W
  Seconds weights;   // every weight that is multiplied, once / W
  Seconds multiply;  // 2 B N / P
  Seconds total() const { return cache + (weights < multiply ? multiply : weights); }
};

/// Without a peak nothing is known about multiplying, and it is left at 0.
DecodeStep decode_step(double batch, Bytes cache_per_sequence, Bytes weights, double parameters,
                       std::optional<FlopsPerS> peak, BytesPerS bandwidth);

/// B* = P c / (2 W): where multiplying takes as long as reading the weights.
double compute_bound_batch(FlopsPerS peak, BytesPerS bandwidth, double bytes_per_weight);

/// MBU = bytes of a step / (step W).
double bandwidth_utilisation(Bytes moved, Seconds step, BytesPerS bandwidth);

/// 2 N tokens + attention.
Flops prefill_flops(double parameters, double tokens, double attention_flops_per_token);

}  // namespace roofline
