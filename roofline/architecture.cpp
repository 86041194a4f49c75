#include "roofline/architecture.h"

#include <fmt/format.h>

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "roofline/run.h"

namespace roofline {
namespace {

// Checked against the published totals of a model of each family; the test has them.
// clang-format off
constexpr Family kFamilies[] = {
    //           gated  tied   learned norm   qkv    out    mlp    qk
    //                         pos.    bias   bias   bias   bias   norm
    {"gpt2",     false, true,  true,   true,  true,  true,  true,  false},
    {"gpt_neox", false, false, false,  true,  true,  true,  true,  false},
    {"llama",    true,  false, false,  false, false, false, false, false},
    {"mistral",  true,  false, false,  false, false, false, false, false},
    {"phi3",     true,  false, false,  false, false, false, false, false},
    {"qwen2",    true,  false, false,  false, true,  false, false, false},
    {"qwen3",    true,  false, false,  false, false, false, false, true},
    {"gemma",    true,  true,  false,  false, false, false, false, false},
};

struct Size {
  std::string_view option;
  std::optional<std::int64_t> Architecture::* value;
  std::int64_t most;  // so that no product of sizes exceeds 63 bits
  std::initializer_list<const char*> keys;  // in config.json: of today, of GPT-2
};
const Size kSizes[] = {
    {"--layers",    &Architecture::layers,    10'000,        {"num_hidden_layers", "n_layer"}},
    {"--hidden",    &Architecture::hidden,    1'000'000,     {"hidden_size", "n_embd"}},
    {"--heads",     &Architecture::heads,     10'000,        {"num_attention_heads", "n_head"}},
    {"--kv-heads",  &Architecture::kv_heads,  10'000,        {"num_key_value_heads"}},
    {"--head-dim",  &Architecture::head_dim,  10'000,        {"head_dim"}},
    {"--ffn",       &Architecture::ffn,       10'000'000,    {"intermediate_size", "n_inner"}},
    {"--vocab",     &Architecture::vocab,     100'000'000,   {"vocab_size"}},
    {"--positions", &Architecture::positions, 1'000'000'000, {"max_position_embeddings", "n_positions"}},
};
// clang-format on

/// Present in the configurations of mixtures of experts.
constexpr const char* kExpertKeys[] = {"num_local_experts", "num_experts", "n_routed_experts",
                                       "moe_intermediate_size"};

std::optional<std::int64_t> integer(const nlohmann::json& config, const Size& size) {
  for (const char* key : size.keys) {
    const auto at = config.find(key);
    if (at == config.end() || at->is_null()) continue;
    if (!at->is_number_integer()) {
      throw std::invalid_argument(
          fmt::format("{}: expected a whole number, got {}", key, at->dump()));
    }
    return at->get<std::int64_t>();
  }
  return std::nullopt;
}

void override_flag(const nlohmann::json& config, const char* key, std::initializer_list<bool*> to) {
  const auto at = config.find(key);
  if (at == config.end() || at->is_null()) return;
  if (!at->is_boolean()) {
    throw std::invalid_argument(fmt::format("{}: expected true or false, got {}", key, at->dump()));
  }
  for (bool* flag : to) *flag = at->get<bool>();
}

Architecture from_json(const nlohmann::json& config) {
  if (!config.is_object() || !config.contains("model_type") || !config["model_type"].is_string()) {
    throw std::invalid_argument("expected an object with a model_type");
  }
  Architecture a;
  a.family = find_family(config["model_type"].get<std::string>());
  Family& f = a.family;
  for (const Size& size : kSizes) a.*size.value = integer(config, size);
  override_flag(config, "tie_word_embeddings", {&f.tied});
  override_flag(config, "attention_bias", {&f.qkv_bias, &f.out_bias});
  override_flag(config, "mlp_bias", {&f.mlp_bias});
  for (const char* key : kExpertKeys) a.mixture_of_experts |= config.contains(key);
  a = with_defaults(a);
  for (const Size& size : kSizes) {
    if (size.value != &Architecture::positions && !(a.*size.value)) {
      throw std::invalid_argument(fmt::format("expected {}", *size.keys.begin()));
    }
  }
  return a;
}

}  // namespace

std::span<const Family> families() { return kFamilies; }

const Family& find_family(std::string_view name) {
  std::string names;
  for (const Family& f : kFamilies) {
    if (f.name == name) return f;
    names += fmt::format(" {}", f.name);
  }
  throw std::invalid_argument(
      fmt::format("expected a family of models that is known,{}; got \"{}\". Give --params, or the "
                  "sizes with --family of one that is built alike",
                  names, name));
}

Architecture with_defaults(Architecture a) {
  if (!a.kv_heads) a.kv_heads = a.heads;
  for (const Size& size : kSizes) {
    const auto& value = a.*size.value;
    if (value && (*value < 1 || *value > size.most)) {
      throw std::invalid_argument(
          fmt::format("{}: expected 1 to {}, got {}", size.option, size.most, *value));
    }
  }
  if (a.heads && *a.heads % *a.kv_heads != 0) {
    throw std::invalid_argument(
        fmt::format("--kv-heads: expected a divisor of {} heads, got {}", *a.heads, *a.kv_heads));
  }
  if (!a.head_dim && a.hidden && a.heads) {
    if (*a.hidden % *a.heads != 0) {
      throw std::invalid_argument(fmt::format(
          "--head-dim is needed: {} hidden is no multiple of {} heads", *a.hidden, *a.heads));
    }
    a.head_dim = *a.hidden / *a.heads;
  }
  if (!a.ffn && a.hidden && !a.family.gated) a.ffn = 4 * *a.hidden;
  return a;
}

std::int64_t known(const std::optional<std::int64_t>& size, std::string_view option) {
  if (size) return *size;
  throw std::invalid_argument(fmt::format("{} is needed here", option));
}

Parameters count_parameters(const Architecture& a) {
  const Family& f = a.family;
  const std::int64_t L = known(a.layers, "--layers"), h = known(a.hidden, "--hidden");
  const std::int64_t V = known(a.vocab, "--vocab"), ffn = known(a.ffn, "--ffn");
  const std::int64_t d = known(a.head_dim, "--head-dim");
  const std::int64_t q = known(a.heads, "--heads") * d;         // width of the queries
  const std::int64_t kv = known(a.kv_heads, "--kv-heads") * d;  // of the keys; of the values

  const std::int64_t norm = f.norm_bias ? 2 * h : h;
  const std::int64_t biases = (f.qkv_bias ? q + 2 * kv : 0) + (f.out_bias ? h : 0) +
                              (f.mlp_bias ? (f.gated ? 2 : 1) * ffn + h : 0);
  const std::int64_t norms = 2 * norm + (f.qk_norm ? 2 * d : 0);
  return {
      .embedding = V * h,
      .positions = f.learned_positions ? known(a.positions, "--positions") * h : 0,
      .qkv = L * h * (q + 2 * kv),
      .projection = L * q * h,
      .mlp = L * (f.gated ? 3 : 2) * h * ffn,
      .norms_and_biases = L * (norms + biases) + norm,  // and the final norm
      .head = f.tied ? 0 : V * h,
  };
}

std::int64_t megatron_parameters(const Architecture& a) {
  const std::int64_t L = known(a.layers, "--layers"), h = known(a.hidden, "--hidden");
  const std::int64_t V = known(a.vocab, "--vocab"), positions = known(a.positions, "--positions");
  return 12 * L * h * h + 13 * L * h + (V + positions) * h;
}

Architecture read_config(const std::filesystem::path& path) {
  try {
    return from_json(nlohmann::json::parse(read_file(path)));
  } catch (const nlohmann::json::exception& e) {
    throw std::runtime_error(fmt::format("{}: {}", path.string(), e.what()));
  } catch (const std::invalid_argument& e) {
    throw std::runtime_error(fmt::format("{}: {}", path.string(), e.what()));
  }
}

}  // namespace roofline
