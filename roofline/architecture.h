// A transformer's architecture, and its parameters addend by addend.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace roofline {

/// What a family of models has besides its matrices; named as in a Hugging Face `model_type`.
struct Family {
  std::string_view name;
  bool gated;              // the MLP has three matrices, not two
  bool tied;               // by default, the output head is the input embedding
  bool learned_positions;  // else rotary: no parameters
  bool norm_bias;          // LayerNorm; RMSNorm has a weight only
  bool qkv_bias, out_bias, mlp_bias;
  bool qk_norm;  // a norm of head_dim weights each on queries and keys
};

std::span<const Family> families();

/// Throws std::invalid_argument with the names that it knows.
const Family& find_family(std::string_view name);

/// Sizes are absent where nobody said them: many formulas need few of them.
struct Architecture {
  Family family = find_family("llama");
  std::optional<std::int64_t> layers, hidden, heads, kv_heads, head_dim, ffn, vocab, positions;
  bool mixture_of_experts = false;
};

/// Fills in, where absent: as many KV heads as heads; head_dim = hidden / heads; ffn = 4 hidden,
/// unless gated. Throws std::invalid_argument for sizes that are no transformer's.
Architecture with_defaults(Architecture a);

/// `size`, or std::invalid_argument "<option> is needed ..." where it is absent.
std::int64_t known(const std::optional<std::int64_t>& size, std::string_view option);

/// The addends of PL-1.
struct Parameters {
  std::int64_t embedding = 0;   // V h: indexed, not multiplied
  std::int64_t positions = 0;   // s_max h, where they are learned
  std::int64_t qkv = 0;         // L (h a d + 2 h g d)
  std::int64_t projection = 0;  // L a d h
  std::int64_t mlp = 0;         // L m h f, m = 2, or 3 if gated
  std::int64_t norms_and_biases = 0;
  std::int64_t head = 0;  // V h, or 0 where it is the embedding

  std::int64_t total() const {
    return embedding + positions + qkv + projection + mlp + norms_and_biases + head;
  }
  /// Looked up, never multiplied. A tied embedding is the output head too, and is.
  std::int64_t indexed() const { return positions + (head == 0 ? 0 : embedding); }
};

/// PL-1, exact: what a checkpoint of the family holds, tied heads counted once.
Parameters count_parameters(const Architecture& a);

/// The rounded form for GPT, Narayanan et al. 2021 (Megatron-LM), equation 2:
/// 12 L h^2 (1 + 13 / 12h + (V + s_max) / 12Lh).
std::int64_t megatron_parameters(const Architecture& a);

/// Reads a Hugging Face style config.json; its dtype is passed over. Throws std::runtime_error with
/// path and reason: not JSON, a family that it does not know, a size that is missing.
Architecture read_config(const std::filesystem::path& path);

}  // namespace roofline
