// Totals are those of the checkpoints, as their publishers print them.
#include "roofline/architecture.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace roofline {
namespace {

struct Row {
  const char* name;
  const char* config;
  std::int64_t total;
};

const Row kRows[] = {
    {"gpt2_124M",
     R"({"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 1024,
         "n_inner": null, "vocab_size": 50257})",
     124'439'808},
    {"gpt2_xl",
     R"({"model_type": "gpt2", "n_embd": 1600, "n_layer": 48, "n_head": 25, "n_positions": 1024,
         "vocab_size": 50257})",
     1'557'611'200},
    {"pythia_6_9B",
     R"({"model_type": "gpt_neox", "hidden_size": 4096, "num_hidden_layers": 32,
         "num_attention_heads": 32, "intermediate_size": 16384, "vocab_size": 50432,
         "max_position_embeddings": 2048, "tie_word_embeddings": false})",
     6'857'302'016},
    {"llama2_7B",
     R"({"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32,
         "num_attention_heads": 32, "num_key_value_heads": 32, "intermediate_size": 11008,
         "vocab_size": 32000, "attention_bias": false})",
     6'738'415'616},
    {"llama2_13B",
     R"({"model_type": "llama", "hidden_size": 5120, "num_hidden_layers": 40,
         "num_attention_heads": 40, "intermediate_size": 13824, "vocab_size": 32000})",
     13'015'864'320},
    {"llama2_70B",
     R"({"model_type": "llama", "hidden_size": 8192, "num_hidden_layers": 80,
         "num_attention_heads": 64, "num_key_value_heads": 8, "intermediate_size": 28672,
         "vocab_size": 32000})",
     68'976'648'192},
    {"llama3_8B",
     R"({"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32,
         "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336,
         "vocab_size": 128256})",
     8'030'261'248},
    {"llama3_70B",
     R"({"model_type": "llama", "hidden_size": 8192, "num_hidden_layers": 80,
         "num_attention_heads": 64, "num_key_value_heads": 8, "intermediate_size": 28672,
         "vocab_size": 128256, "torch_dtype": "bfloat16"})",
     70'553'706'496},
    {"llama3_405B",
     R"({"model_type": "llama", "hidden_size": 16384, "num_hidden_layers": 126,
         "num_attention_heads": 128, "num_key_value_heads": 8, "intermediate_size": 53248,
         "vocab_size": 128256})",
     405'853'388'800},
    {"mistral_7B",
     R"({"model_type": "mistral", "hidden_size": 4096, "num_hidden_layers": 32,
         "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336,
         "vocab_size": 32000})",
     7'241'732'096},
    {"phi3_mini",
     R"({"model_type": "phi3", "hidden_size": 3072, "num_hidden_layers": 32,
         "num_attention_heads": 32, "num_key_value_heads": 32, "intermediate_size": 8192,
         "vocab_size": 32064})",
     3'821'079'552},
    {"qwen2_5_7B",
     R"({"model_type": "qwen2", "hidden_size": 3584, "num_hidden_layers": 28,
         "num_attention_heads": 28, "num_key_value_heads": 4, "intermediate_size": 18944,
         "vocab_size": 152064})",
     7'615'616'512},
    {"qwen3_8B",
     R"({"model_type": "qwen3", "hidden_size": 4096, "num_hidden_layers": 36, "head_dim": 128,
         "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 12288,
         "vocab_size": 151936, "attention_bias": false})",
     8'190'735'360},
    // Its heads are wider together (16 x 256) than the model.
    {"gemma_7B",
     R"({"model_type": "gemma", "hidden_size": 3072, "num_hidden_layers": 28, "head_dim": 256,
         "num_attention_heads": 16, "num_key_value_heads": 16, "intermediate_size": 24576,
         "vocab_size": 256000})",
     8'537'680'896},
};

/// A config.json with this text, for the length of a test.
class ConfigFile {
 public:
  explicit ConfigFile(std::string_view text)
      : path_(std::filesystem::path(testing::TempDir()) /
              ("config_" + std::to_string(getpid()) + ".json")) {
    std::ofstream(path_) << text;
  }
  ~ConfigFile() { std::filesystem::remove(path_); }
  ConfigFile(const ConfigFile&) = delete;
  ConfigFile& operator=(const ConfigFile&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

TEST(Architecture, ParametersMatchPublishedTotals) {
  for (const Row& row : kRows) {
    const ConfigFile file(row.config);
    EXPECT_EQ(count_parameters(read_config(file.path())).total(), row.total) << row.name;
  }
}

TEST(Architecture, AddendsAreThoseOfTheScalingBook) {
  const ConfigFile file(kRows[7].config);  // Llama 3 70B
  const Parameters p = count_parameters(read_config(file.path()));
  EXPECT_EQ(p.mlp, 56'371'445'760);
  EXPECT_EQ(p.qkv + p.projection, 12'079'595'520);
  EXPECT_EQ(p.embedding + p.head, 2'101'346'304);
}

TEST(Architecture, TiedHeadsAreCountedOnce) {
  Architecture a{.layers = 1, .hidden = 8, .heads = 2, .ffn = 16, .vocab = 100};
  const std::int64_t untied = count_parameters(with_defaults(a)).total();
  a.family.tied = true;
  EXPECT_EQ(untied - count_parameters(with_defaults(a)).total(), 800);
}

TEST(Architecture, MixturesOfExpertsAreSeen) {
  const ConfigFile file(
      R"({"model_type": "mistral", "hidden_size": 4096, "num_hidden_layers": 32,
          "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336,
          "vocab_size": 32000, "num_local_experts": 8})");
  EXPECT_TRUE(read_config(file.path()).mixture_of_experts);
}

TEST(Architecture, RefusesAConfigThatItCannotRead) {
  const char* const kBad[] = {
      "",
      "{",
      "[]",
      "{}",
      R"({"model_type": "mamba"})",
      R"({"model_type": "llama", "hidden_size": 4096})",
      R"({"model_type": "gpt2", "n_embd": "768", "n_layer": 12, "n_head": 12, "vocab_size": 1})",
      R"({"model_type": "gpt2", "n_embd": 768, "n_layer": 1e3, "n_head": 12, "vocab_size": 1})",
      R"({"model_type": "gpt2", "n_embd": -1, "n_layer": 12, "n_head": 12, "vocab_size": 1})",
      R"({"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 5, "vocab_size": 1})",
  };
  for (const char* text : kBad) {
    const ConfigFile file(text);
    EXPECT_THROW(read_config(file.path()), std::runtime_error) << text;
  }
  EXPECT_THROW(read_config("no/such/config.json"), std::runtime_error);
}

TEST(Architecture, TheLargestSizesDoNotOverflow) {
  const Architecture a{.layers = 10'000,
                       .hidden = 1'000'000,
                       .heads = 10'000,
                       .head_dim = 100,
                       .ffn = 10'000'000,
                       .vocab = 100'000'000};
  EXPECT_GT(count_parameters(with_defaults(a)).total(), 300'000'000'000'000'000);
  EXPECT_THROW(with_defaults({.hidden = 1'000'001}), std::invalid_argument);
}

}  // namespace
}  // namespace roofline
