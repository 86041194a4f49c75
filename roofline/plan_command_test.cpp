// Worked examples through the command line. Expected values are published figures, or worked out
// by hand from the formula; the source stands with each.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "roofline/command.h"
#include "roofline/csv.h"
#include "roofline/record.h"

namespace roofline {
namespace {

std::vector<std::string> words(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> all;
  for (std::string word; in >> word;) all.push_back(word);
  return all;
}

struct Result {
  int code;
  Output out;
  nlohmann::json lines;

  /// The line of an item; where two have the same name, that in `unit`.
  const nlohmann::json& line(const std::string& item, const std::string& unit = "") const {
    static const nlohmann::json kNone = {{"value", nullptr}, {"expected", nullptr}};
    for (const auto& line : lines) {
      if (line["item"] == item && (unit.empty() || line["unit"] == unit)) return line;
    }
    ADD_FAILURE() << "no line \"" << item << "\" in\n" << out.text << out.notes;
    return kNone;
  }
  double number(const std::string& item, const std::string& unit = "",
                const std::string& key = "value") const {
    const auto& value = line(item, unit)[key];
    return value.is_number() ? value.get<double>() : NAN;
  }
};

Result plan(const std::string& arguments) {
  Result r;
  std::vector<std::string> all = words("plan " + arguments);
  all.push_back("--format=json");
  r.code = run_command_line(all, r.out);
  if (!r.out.text.empty()) r.lines = nlohmann::json::parse(r.out.text);
  return r;
}

struct Row {
  const char* arguments;
  const char* item;
  const char* unit;
  double value;
  double tolerance;  // absolute; 0: equal, to the digits of a double
};

void expect(const Row& row) {
  const Result r = plan(row.arguments);
  EXPECT_EQ(r.code, 0) << row.arguments << '\n' << r.out.notes;
  const double value = r.number(row.item, row.unit);
  const double tolerance = row.tolerance > 0 ? row.tolerance : 1e-12 * std::fabs(row.value);
  EXPECT_TRUE(std::fabs(value - row.value) <= tolerance)
      << row.arguments << ": " << row.item << " is " << value << ", expected " << row.value;
}

// The models of Korthikanti et al. 2022, table 3.
#define GPT_MODEL "--family=gpt2 --vocab=51200 --positions=2048 "
#define GPT GPT_MODEL "--sequence=2048 "
#define GPT_22B GPT "--layers=48 --hidden=6144 --heads=64 "
#define GPT_175B GPT "--layers=96 --hidden=12288 --heads=96 "
#define GPT_530B GPT "--layers=105 --hidden=20480 --heads=128 "
#define GPT_1T GPT "--layers=128 --hidden=25600 --heads=160 "
#define MEGATRON "--counted=gemm --attention=full --peak=312T "
#define LLAMA2_7B "--layers=32 --hidden=4096 --heads=32 --ffn=11008 --vocab=32000 "
#define LLAMA2_13B "--layers=40 --hidden=5120 --heads=40 --ffn=13824 --vocab=32000 "
#define LLAMA2_70B "--layers=80 --hidden=8192 --heads=64 --kv-heads=8 --ffn=28672 --vocab=32000 "
#define LLAMA3_8B "--layers=32 --hidden=4096 --heads=32 --kv-heads=8 --ffn=14336 --vocab=128256 "
#define LLAMA3_70B "--layers=80 --hidden=8192 --heads=64 --kv-heads=8 --ffn=28672 --vocab=128256 "
#define NEMO "--counted=no-embedding --attention=full "

const Row kTime[] = {
    // Stanford CS336 2026, lecture 2: 6 x 70e9 x 15e12 FLOPs on 1024 H100 at half of 1979e12 / 2.
    {"time --params=70B --tokens=15T", "model FLOPs", "FLOP", 6.3e24, 0},
    {"time --params=70B --tokens=15T --gpus=1024 --spec=h100-sxm", "model FLOPs a day", "FLOP/day",
     4.37723136e22, 0},
    {"time --params=70B --tokens=15T --gpus=1024 --spec=h100-sxm", "training time", "day",
     143.92659381842682, 1e-9},
    {"time --params=70B --tokens=15T --gpus=1024 --spec=h100-sxm --mfu=0.3", "training time", "day",
     239.878, 5e-4},
    {"time --params=70B --tokens=15T --gpus=1024 --spec=h100-sxm --mfu=0.4", "training time", "day",
     179.908, 5e-4},
    {"time --params=70B --tokens=15T --gpus=1024 --peak=1979T", "training time", "day", 71.963,
     5e-4},
    {"time --params=70B --tokens=15T --gpus=1024 --spec=h100-sxm --recompute=full",
     "training time with recompute", "day", 191.902, 5e-4},
    // Lecture: 5.34e13 / 6.75e13; 8 H100 for two weeks.
    {"time --achieved=53.4T --peak=67.5T", "MFU", "ratio", 0.79111, 5e-6},
    {"time --gpus=8 --spec=h100-sxm --mfu=1 --within=14d", "model FLOPs in 14 days", "FLOP",
     9.5751936e21, 0},
    // Inverses of 143.9266 days.
    {"time --params=70B --tokens=15T --spec=h100-sxm --within=144d", "GPUs needed in 144 days",
     "GPU", 1024, 0},
    {"time --params=70B --gpus=1024 --spec=h100-sxm --within=12435257705.912ms",
     "tokens in 143.927 days", "token", 15e12, 1e3},
    // Korthikanti et al. 2022, table 5: MFU and HFU as printed; times there are rounded.
    {"time " GPT_22B MEGATRON "--gpus=8 --global-batch=4 --step-time=1.10s", "MFU", "ratio", 0.415,
     0.002},
    {"time " GPT_175B MEGATRON "--gpus=64 --global-batch=64 --step-time=13.75s", "MFU", "ratio",
     0.514, 0.002},
    {"time " GPT_530B MEGATRON "--gpus=280 --global-batch=280 --step-time=37.83s", "MFU", "ratio",
     0.560, 0.002},
    {"time " GPT_1T MEGATRON "--gpus=512 --global-batch=512 --step-time=71.49s", "MFU", "ratio",
     0.563, 0.002},
#define SELECTIVE "--recompute=selective --selective-count=korthikanti "
    {"time " GPT_175B MEGATRON SELECTIVE "--gpus=64 --global-batch=64 --step-time=13.75s", "HFU",
     "ratio", 0.528, 0.002},
    {"time " GPT_530B MEGATRON SELECTIVE "--gpus=280 --global-batch=280 --step-time=37.83s", "HFU",
     "ratio", 0.570, 0.002},
    {"time " GPT_1T MEGATRON SELECTIVE "--gpus=512 --global-batch=512 --step-time=71.49s", "HFU",
     "ratio", 0.570, 0.002},
    {"time " GPT_175B MEGATRON SELECTIVE "--tokens=1B", "hardware / model FLOPs", "ratio", 1.02693,
     5e-6},
    {"time " GPT_530B MEGATRON SELECTIVE "--tokens=1B", "hardware / model FLOPs", "ratio", 1.01636,
     5e-6},
    {"time " GPT_175B MEGATRON "--recompute=selective --tokens=1B", "hardware / model FLOPs",
     "ratio", 1.00898, 5e-6},
// Narayanan et al. 2021, table 2: days at a rate per GPU, for GPT-3 and 300B tokens.
#define TABLE2 GPT_175B MEGATRON "--recompute=full --tokens=300B "
    {"time " TABLE2, "hardware FLOPs", "FLOP", 4.30200e23, 5e17},
    {"time " TABLE2 "--gpus=384 --achieved=153T", "training time", "day", 84, 1},
    {"time " TABLE2 "--gpus=768 --achieved=149T", "training time", "day", 43, 1},
    {"time " TABLE2 "--gpus=1536 --achieved=141T", "training time", "day", 23, 1},
    {"time " TABLE2 "--gpus=384 --achieved=144T", "training time", "day", 90, 1},
    {"time " TABLE2 "--gpus=1536 --achieved=44T", "training time", "day", 74, 1},
    // The same paper and BigScience: 8 N D / (G X).
    {"time --params=175B --tokens=300B --gpus=1024 --achieved=140T --recompute=full",
     "training time", "day", 34, 1},
    {"time --params=1T --tokens=450B --gpus=3072 --achieved=163T --recompute=full", "training time",
     "day", 84, 1},
    {"time --params=13B --tokens=300B --gpus=256 --achieved=45T --recompute=full", "training time",
     "day", 31.35, 0.01},
    {"time --params=200B --tokens=300B --gpus=350 --achieved=150T --recompute=full",
     "training time", "day", 105.82, 0.01},
// EleutherAI cookbook, pull request 31: zetta-FLOPs by addend, with recompute.
#define COOKBOOK                                                                            \
  "time --family=gpt2 --layers=44 --hidden=6144 --heads=64 --vocab=51200 --positions=2048 " \
  "--sequence=2048 --counted=gemm --attention=full --recompute=full --tokens=300B"
    {COOKBOOK, "QKV FLOPs", "FLOP", 11.96e21, 0.01e21},
    {COOKBOOK, "scores FLOPs", "FLOP", 1.33e21, 0.01e21},
    {COOKBOOK, "values FLOPs", "FLOP", 1.33e21, 0.01e21},
    {COOKBOOK, "projection FLOPs", "FLOP", 3.99e21, 0.01e21},
    {COOKBOOK, "FFN FLOPs", "FLOP", 31.89e21, 0.01e21},
    {COOKBOOK, "logits FLOPs", "FLOP", 0.56623e21, 1e16},
    {COOKBOOK, "hardware FLOPs", "FLOP", 51.06e21, 0.01e21},
    // NeMo performance pages: model TFLOP/s of one GPU by tokens/s and sequence.
    {"time " LLAMA2_7B NEMO "--sequence=4096 --tokens-per-s-per-gpu=16671",
     "model FLOP/s of one GPU", "FLOP/s", 768e12, 1.5e12},
    {"time " LLAMA2_7B NEMO "--sequence=32768 --tokens-per-s-per-gpu=6687",
     "model FLOP/s of one GPU", "FLOP/s", 610e12, 1.5e12},
    {"time " LLAMA2_7B NEMO "--sequence=1048576 --tokens-per-s-per-gpu=318",
     "model FLOP/s of one GPU", "FLOP/s", 536e12, 1.5e12},
    {"time " LLAMA3_8B NEMO "--sequence=8192 --tokens-per-s-per-gpu=12273",
     "model FLOP/s of one GPU", "FLOP/s", 711e12, 1.5e12},
    {"time " LLAMA2_70B NEMO "--sequence=4096 --tokens-per-s-per-gpu=1728",
     "model FLOP/s of one GPU", "FLOP/s", 768e12, 1.5e12},
    {"time " LLAMA2_13B NEMO "--sequence=4096 --tokens-per-s-per-gpu=8715",
     "model FLOP/s of one GPU", "FLOP/s", 760e12, 1.5e12},
    {"time " GPT_175B "--counted=gemm --attention=full --tokens-per-s-per-gpu=716",
     "model FLOP/s of one GPU", "FLOP/s", 771e12, 1.5e12},
    // By hand: 6 (N - V h) + 6 x 32 x 4096 x 4096 (causal) = 42.8653e9 x 16671.
    {"time " LLAMA2_7B "--counted=no-embedding --attention=causal --sequence=4096 "
     "--tokens-per-s-per-gpu=16671",
     "model FLOP/s of one GPU", "FLOP/s", 714.6e12, 0.05e12},
    // The same pages: days for 10T tokens on 1024 GPUs, as tokens and tokens/s alone say.
    {"time --tokens=10T --gpus=1024 --tokens-per-s-per-gpu=716", "training time", "day", 158, 0.5},
    {"time --tokens=10T --gpus=1024 --tokens-per-s-per-gpu=23406", "training time", "day", 5, 0.5},
    {"time --tokens=10T --gpus=1024 --tokens-per-s-per-gpu=326", "training time", "day", 347, 0.5},
    // GPT-3 paper, appendix D: total compute in PF-days and FLOPs.
    {"time --params=125M --tokens=300B", "petaflop/s-days", "PF-day", 2.60, 0.01},
    {"time --params=356M --tokens=300B", "model FLOPs", "FLOP", 6.41e20, 0.01e20},
    {"time --params=12.85B --tokens=300B", "petaflop/s-days", "PF-day", 268, 0.5},
    {"time --params=174.6B --tokens=300B", "model FLOPs", "FLOP", 3.14e23, 0.005e23},
    // Chinchilla, table 3 (its FLOPs are counted by addend: 5 %).
    {"time --params=400M --tokens=8.0B", "model FLOPs", "FLOP", 1.92e19, 0.05 * 1.92e19},
    {"time --params=67B --tokens=1.5T", "model FLOPs", "FLOP", 5.76e23, 0.05 * 5.76e23},
    {"time --params=10T --tokens=216.2T", "model FLOPs", "FLOP", 1.30e28, 0.05 * 1.30e28},
    {"time --params=1B --tokens-per-parameter=20", "model FLOPs", "FLOP", 1.2e20, 0},
// PaLM paper, table 3: MFU with and without attention.
#define PALM                                                                                  \
  "time --params=540.35B --layers=118 --heads=48 --head-dim=256 --sequence=2048 --gpus=6144 " \
  "--peak=275T --tokens-per-s=238.3k "
    {PALM "--attention=full", "MFU", "ratio", 0.462, 0.0005},
    {PALM, "MFU", "ratio", 0.457, 0.0005},
    // "How to scale your model": LLaMA 3 70B on 8960 TPU v5p.
    {"time --params=70B --tokens=15T --gpus=8960 --peak=459T --mfu=0.4", "training time", "day", 44,
     0.5},
    // Llama 3 paper.
    {"time --params=405B --tokens=15.6T", "model FLOPs", "FLOP", 3.8e25, 0.05e25},
    // Megatron-LM's MLPerf log and llm.c: steps to tokens/s and hours.
    {"time --global-batch=6144 --sequence=2048 --step-time=6.34s --gpus=1536", "tokens/s",
     "token/s", 1.98469e6, 5},
    {"time --global-batch=6144 --sequence=2048 --step-time=6.34s --gpus=1536 --tokens=300B",
     "training time", "day", 1.75, 0.005},
    {"time --tokens=299999690752 --global-batch=512 --sequence=1024 --step-time=150ms --gpus=8",
     "training time", "day", 23.84 / 24, 0.0005},
    {"time --params=124M --tokens=300B", "model FLOPs", "FLOP", 2.232e20, 0},
};

TEST(PlanTime, MatchesWorkedExamples) {
  for (const Row& row : kTime) expect(row);
}

#define GPT_EXACT "time --family=gpt2 --positions=2048 --vocab=50257 "
const Row kParameters[] = {
    // Narayanan et al. 2021, table 1: billions, by their rounded formula.
    {"memory --count=megatron " GPT_MODEL "--hidden=2304 --layers=24 --heads=24", "parameters", "",
     1.7e9, 0.05e9},
    {"memory --count=megatron " GPT_MODEL "--hidden=6144 --layers=40 --heads=48", "parameters", "",
     18.4e9, 0.051e9},
    {"memory --count=megatron " GPT_MODEL "--hidden=25600 --layers=128 --heads=160", "parameters",
     "", 1008.0e9, 0.05e9},
    // GPT-3's shape: V h + s h + L (12 h^2 + 13 h) + 2 h.
    {GPT_EXACT "--layers=96 --hidden=12288 --heads=96 --tokens=1", "parameters", "",
     174'604'259'328, 0},
    {"memory --family=gpt2 --positions=512 --vocab=50257 --layers=36 --hidden=4096 --heads=32",
     "parameters", "", 7'457'632'256, 0},
    {"memory " LLAMA3_70B, "parameters", "", 70'553'706'496, 0},
    // A 72B with three matrices of 8192 x 28672: without a third it would be 56B.
    {"memory --layers=80 --hidden=8192 --heads=64 --kv-heads=8 --ffn=28672 --vocab=128256", "FFN",
     "", 56'371'445'760, 0},
};

TEST(PlanParameters, MatchesPublishedCounts) {
  for (const Row& row : kParameters) expect(row);
}

const Row kMemory[] = {
    // Lecture: 8 x 80e9 / 12; and the other stages of the same ledger, by hand.
    {"memory --gpus=8 --gpu-memory=80GB", "largest model, zero3", "", 53'333'333'333, 0},
    {"memory --gpus=8 --gpu-memory=80GB", "largest model, zero2", "", 24'615'384'615, 0},
    {"memory --gpus=8 --gpu-memory=80GB", "largest model, zero1", "", 16'000'000'000, 0},
    {"memory --gpus=8 --gpu-memory=80GB", "largest model, ddp", "", 6'666'666'666, 0},
    {"memory --gpus=8 --spec=h100-sxm", "largest model, zero3", "", 53'333'333'333, 0},
    {"memory --gpus=8 --gpu-memory=80GB --optimizer=sgd", "largest model, zero3", "", 160e9, 0},
    {"memory --gpus=8 --gpu-memory=80GB --optimizer=momentum --master", "largest model, zero3", "",
     53'333'333'333, 0},
    {"memory --gpus=8 --gpu-memory=80GB --preset=zero16", "largest model, zero3", "", 40e9, 0},
    {"memory --gpus=8 --gpu-memory=80GB --preset=megatron18", "largest model, zero3", "",
     35'555'555'555, 0},
    {"memory --gpus=8 --gpu-memory=80GB --preset=playbook20", "largest model, zero3", "", 32e9, 0},
    {"memory --gpus=8 --gpu-memory=80GB --weights=fp32 --gradients=fp32", "largest model, zero3",
     "", 40e9, 0},
    // 8 x (80e9 - 8e9) / 12.
    {"memory --gpus=8 --gpu-memory=80GB --overhead=2GB --activations=6GB", "largest model, zero3",
     "", 48e9, 0},
    {"memory --optimizer=adam8bit", "weights, gradients and states", "byte/parameter", 6, 0},
    {"memory --optimizer=adagrad", "weights, gradients and states", "byte/parameter", 8, 0},
    // Lecture: a 49152 x 12288 matrix of fp32.
    {"memory --params=603979776 --weights=fp32", "weights", "byte", 2'415'919'104, 0},
    // ZeRO paper, figure 1: 7.5B on 64 GPUs; section 3.1: GPT-2 1.5B.
    {"memory --params=7.5B --gpus=64 --preset=zero16", "on each of 64 GPUs, ddp", "byte", 120e9, 0},
    {"memory --params=7.5B --gpus=64 --preset=zero16", "on each of 64 GPUs, zero1", "byte",
     31.40625e9, 0},
    {"memory --params=7.5B --gpus=64 --preset=zero16", "on each of 64 GPUs, zero2", "byte",
     16.640625e9, 0},
    {"memory --params=7.5B --gpus=64 --preset=zero16", "on each of 64 GPUs, zero3", "byte", 1.875e9,
     0},
    {"memory --params=1.5B --preset=zero16", "weights, gradients and states", "byte", 24e9, 0},
    // Ultra-Scale Playbook: GB of states, without and with fp32 gradients.
    {"memory --params=70B --preset=zero16", "weights, gradients and states", "byte", 1120e9, 0},
    {"memory --params=405B --preset=playbook20", "weights, gradients and states", "byte", 8100e9,
     0},
    // "How to scale your model": bf16 weights and fp32 Adam of 70B.
    {"memory --params=70B", "weights", "byte", 140e9, 0},
    {"memory --params=70B", "optimizer state", "byte", 560e9, 0},
    // accelerate issue 3379: Llama 3.1 70B in fp16, with and without its output head.
    {"memory " LLAMA3_70B "--weights=fp16", "weights", "byte", 141'107'412'992, 0},
    {"memory " LLAMA3_70B "--tied --weights=fp16", "weights", "byte", 139'006'066'688, 0},
};

TEST(PlanMemory, MatchesWorkedExamples) {
  for (const Row& row : kMemory) expect(row);
}

TEST(PlanMemory, PrintsGigabytesAndGibibytes) {
  const Result r = plan("memory " LLAMA3_70B "--weights=fp16");
  EXPECT_NEAR(r.number("weights", "byte", "GB"), 141.107, 5e-4);
  EXPECT_NEAR(r.number("weights", "byte", "GiB"), 131.417, 5e-4);
}

TEST(PlanMemory, AddendsSumToTheTotal) {
  for (const char* preset : {"lecture12", "zero16", "megatron18", "playbook20"}) {
    const Result r = plan(fmt::format("memory --params=7B --preset={}", preset));
    for (const char* unit : {"byte/parameter", "byte"}) {
      double sum = 0;
      for (const char* item : {"weights", "gradients", "fp32 gradient accumulation",
                               "master weights", "optimizer state"}) {
        sum += r.number(item, unit);
      }
      EXPECT_EQ(sum, r.number("weights, gradients and states", unit)) << preset;
    }
  }
}

TEST(PlanMemory, ExitCodeSaysWhetherItFits) {
  EXPECT_EQ(plan("memory --params=53333333333 --gpus=8 --gpu-memory=80GB").code, 0);
  const Result r = plan("memory --params=53333333334 --gpus=8 --gpu-memory=80GB");
  EXPECT_EQ(r.code, 1);
  EXPECT_EQ(r.line("fits, zero3")["value"], false);
  EXPECT_EQ(plan("memory --params=8B --gpus=8 --gpu-memory=80GB --sharding=ddp").code, 1);
  EXPECT_EQ(plan("memory --gpu-memory=80GB --overhead=80GB").code, 1);
}

#define UNIT "activations --layer=unit --layers="
#define GPT3_LAYERS "activations " GPT_175B
const Row kActivations[] = {
    // Lecture: a bf16 MLP of 16 layers, in full and by micro-batches of 16; unit layers.
    {"activations --layer=mlp --layers=16 --hidden=1024 --batch=64", "peak", "byte", 2'097'152, 0},
    {"activations --layer=mlp --layers=16 --hidden=1024 --micro-batch=16", "peak", "byte", 524'288,
     0},
    {UNIT "16", "peak", "layer", 16, 0},
    {UNIT "16 --recompute=every-4", "peak", "layer", 8, 0},
    {UNIT "16 --recompute=sqrt", "peak", "layer", 8, 0},
    {UNIT "16", "recomputed, if nothing is stored", "layer forward", 120, 0},
    {UNIT "64 --recompute=sqrt", "peak", "layer", 16, 0},
    {UNIT "64", "recomputed, if nothing is stored", "layer forward", 2016, 0},
    {UNIT "100 --recompute=sqrt", "peak", "layer", 20, 0},
    {UNIT "100", "recomputed, if nothing is stored", "layer forward", 4950, 0},
    {UNIT "100 --recompute=sqrt", "recomputed", "layer forward", 100, 0},
    // Korthikanti et al. 2022, table 2 and its text, for GPT-3.
    {GPT3_LAYERS, "a layer", "byte", 2'868'903'936, 0},
    {GPT3_LAYERS, "grows with s", "byte", 855'638'016, 0},
    {GPT3_LAYERS, "input of a layer", "byte", 50'331'648, 0},
    {GPT3_LAYERS, "stored", "byte", 275.41e9, 0.005e9},
    {GPT3_LAYERS "--recompute=selective", "stored", "byte", 82.14e9, 0.005e9},
    {GPT3_LAYERS "--recompute=full", "stored", "byte", 4.83e9, 0.005e9},
    // By hand: ceil(96 / k) x 2 s b h + k layers.
    {GPT3_LAYERS, "peak, every-1", "byte", 7.70e9, 0.005e9},
    {GPT3_LAYERS, "peak, every-2", "byte", 8.15e9, 0.005e9},
    {GPT3_LAYERS, "peak, every-10", "byte", 29.19e9, 0.005e9},
    {GPT3_LAYERS, "best group", "layer", 1, 0},
    {GPT3_LAYERS "--flash", "peak, every-2", "byte", 4.13e9, 0.005e9},
    {GPT3_LAYERS "--flash", "peak, every-4", "byte", 4.63e9, 0.005e9},
    {GPT3_LAYERS, "logits", "byte", 4.0 * 2048 * 51200, 0},
    // ZeRO paper, section 3.2: GPT-2 1.5B, batch 32.
    {"activations --layer=zero --layers=48 --hidden=1600 --sequence=1024 --batch=32", "stored",
     "byte", 60e9, 0.5e9},
    // "How to scale your model": 3 x 80 x 2 x 8192 bytes for each of 4e6 tokens is 15.7 TB.
    {"activations --layer=zero --layers=80 --hidden=8192 --sequence=4M --recompute=full", "stored",
     "byte", 15.73e12 / 3, 0.005e12},
    // Lecture: 64 by 16.
    {"activations --layer=mlp --layers=16 --hidden=1024 --micro-batch=16 --global-batch=64",
     "micro-batches accumulated", "step", 4, 0},
};

TEST(PlanActivations, MatchesWorkedExamples) {
  for (const Row& row : kActivations) expect(row);
}

TEST(PlanActivations, FlashLeavesSelectiveRecomputeNothingToSave) {
  const Result r = plan(GPT3_LAYERS "--flash --recompute=selective");
  EXPECT_EQ(r.number("peak, selective"), r.number("peak, none"));
  EXPECT_EQ(r.line("peak, selective")["convention"], "flash attention left nothing to save");
}

TEST(PlanActivations, SaysWhenSqrtIsNotTheBest) {
  EXPECT_EQ(plan(UNIT "16").line("best group")["convention"], "sqrt(L) is the best here");
  const auto convention = plan(GPT3_LAYERS).line("best group")["convention"].get<std::string>();
  EXPECT_NE(convention.find("not sqrt(L) = 10"), std::string::npos) << convention;
}

#define H100X8 "--gpus=8 --spec=h100-sxm "
#define KV_70B "--params=70B --kv-per-token=327680 --context=8192 " H100X8
// The book rounds the cache of a sequence to 6.7 GB; here as one token of that size.
#define BOOK                                                                               \
  "decode --params=13B --kv-per-token=6.7GB --context=1 --peak=197T --bandwidth=0.82TB/s " \
  "--gpus=8 "
const Row kDecode[] = {
    // KV caches, "How to scale your model": Llama 2 13B; Llama 3.
    {"decode " LLAMA2_13B "--context=8192", "KV cache of the batch", "byte", 6'710'886'400, 0},
    {"decode " LLAMA3_8B, "KV cache of a token", "byte", 131'072, 0},
    {"decode " LLAMA3_70B "--kv=int8", "KV cache of a token", "byte", 163'840, 0},
    {"decode " LLAMA3_70B "--kv=int8 --context=32768", "KV cache of the batch", "byte", 5.369e9,
     0.0005e9},
    // The same book: bounds for Llama 2 13B on 8 TPU v5e, printed to two decimals.
    {BOOK "--batch=1", "step", "ms", 4.985, 0.005},
    {BOOK "--batch=1", "tokens/s", "token/s", 200.61, 0.005},
    {BOOK "--batch=16", "step", "ms", 20.305, 0.005},
    {BOOK "--batch=64", "tokens/s", "token/s", 923.13, 0.005},
    {BOOK "--batch=240", "step", "ms", 249.09, 0.005},
    {BOOK "--batch=240", "tokens/s", "token/s", 963.53, 0.005},
    // The same book: 30B in int8 on 16 TPU v5e with bf16 arithmetic.
    {"decode --params=30B --weights=int8 --kv-per-token=100kB --context=8192 --peak=197T "
     "--bandwidth=0.81TB/s --gpus=16 --batch=4",
     "step", "ms", 2.57, 0.005},
    {"decode --params=30B --weights=int8 --kv-per-token=100kB --context=8192 --peak=197T "
     "--bandwidth=0.81TB/s --gpus=16 --batch=256",
     "step", "ms", 21.05, 0.005},
    // By hand: 8 x 3.35e12 / 140e9; 3.35e12 / 16e9; with a cache of 2.684 GB a sequence.
    {"decode --params=70B " H100X8, "tokens/s", "token/s", 191.43, 0.005},
    {"decode --params=8B --spec=h100-sxm", "tokens/s", "token/s", 209.375, 1e-9},
    {"decode " KV_70B "--batch=1", "tokens/s", "token/s", 187.83, 0.005},
    {"decode " KV_70B "--batch=64", "step", "ms", 11.634, 0.0005},
    {"decode " KV_70B "--batch=128", "tokens/s", "token/s", 7093.50, 0.005},
    // By hand: an untied embedding is looked up, 2 (8030261248 - 128256 x 4096) / 2e12; a tied one
    // is also multiplied.
    {"decode " LLAMA3_8B "--bandwidth=2TB/s", "reading the weights", "ms", 7.504924672, 0},
    {"decode " LLAMA3_8B "--tied --bandwidth=2TB/s", "reading the weights", "ms", 7.504924672, 0},
    // 989.5e12 / 3.35e12, and half of that for one byte a weight; 1 FLOP/byte against it.
    {"decode --params=70B " H100X8, "compute-bound from batch", "sequence", 295.3731, 5e-5},
    {"decode --params=70B --weights=int8 " H100X8, "compute-bound from batch", "sequence", 147.6866,
     5e-5},
    {"decode --params=70B " H100X8, "most of the peak", "ratio", 1 / 295.37313, 1e-8},
    // kipply, "Transformer inference arithmetic", and an A10.
    {"decode --params=7B --bandwidth=2TB/s --step-time=14ms", "MBU", "ratio", 0.5, 0},
    {"decode --params=7B --bandwidth=600GB/s --peak=125T", "step", "ms", 23.33, 0.005},
    {"decode --params=7B --bandwidth=600GB/s --peak=125T", "compute-bound from batch", "sequence",
     208.33, 0.005},
    // By hand: 2 x 7e9 x 1000 / 1e15.
    {"decode --params=7B --bandwidth=2TB/s --peak=1000T --prompt=1000", "prefill time", "s", 0.014,
     1e-15},
};

TEST(PlanDecode, MatchesWorkedExamples) {
  for (const Row& row : kDecode) expect(row);
}

TEST(PlanDecode, WhatDoesNotFitHasNoRate) {
  EXPECT_EQ(plan("decode " KV_70B "--batch=186").code, 0);
  for (const char* batch : {"187", "256"}) {
    const Result r = plan(fmt::format("decode " KV_70B "--batch={}", batch));
    EXPECT_EQ(r.code, 1);
    EXPECT_EQ(r.out.text.find("token/s"), std::string::npos) << r.out.text;
    EXPECT_NE(r.out.notes.find("640 GB"), std::string::npos) << r.out.notes;
  }
}

TEST(PlanTime, ComputedUtilisationAboveOneIsFlaggedNotClipped) {
  const Result r = plan("time --params=70B --gpus=8 --spec=h100-sxm --tokens-per-s=100k");
  EXPECT_EQ(r.code, 0);
  EXPECT_NEAR(r.number("MFU"), 6 * 70e9 * 100e3 / (8 * 989.5e12), 1e-9);  // 5.3
  EXPECT_NE(r.out.notes.find("above 1"), std::string::npos) << r.out.notes;
}

TEST(PlanTime, AnImpossibleDeadlineIsExitCode1) {
  EXPECT_EQ(plan("time --params=70B --tokens=15T --gpus=1024 --spec=h100-sxm --within=30d").code,
            1);
}

TEST(PlanTime, TheSparsePeakIsWarnedAbout) {
  const Result r = plan("time --params=70B --tokens=15T --gpus=1024 --peak=1979T");
  EXPECT_NE(r.out.notes.find("2:4 sparsity"), std::string::npos) << r.out.notes;
  EXPECT_EQ(plan("time --params=1B --tokens=1B --gpus=1 --peak=989.5T").out.notes, "");
}

TEST(Plan, RefusesNonsenseWithTheCure) {
  const char* const kBad[][2] = {
      {"time --params=70B --tokens=15T --gpus=0", "--gpus: expected more than 0"},
      {"time --params=70B --tokens=0", "--tokens: expected more than 0"},
      {"time --params=70GB --tokens=15T", "70B"},
      {"time --mfu=0", "above 0, at most 1"},
      {"time --mfu=1.01", "above 0, at most 1"},
      {"time --mfu=-0.5", "expected a number"},
      {"time --mfu=nan", "expected a number"},
      {"time --spec=h900", "h100-sxm"},
      {"time --dtype=fp12", "bf16"},
      {"time --params=1B --tokens=1B --mfu=0.5 --achieved=100T", "at most"},
      {"time --params=1B --tokens=1B --counted=gemm", "architecture"},
      {"time --params=1B --tokens=1B --attention=full --sequence=8", "is needed here"},
      {"time --params=1B --tokens=1B --recompute=selective", "--attention"},
      {"time --within=14d", "expected a speed"},
      {"time", "--params"},
      {"memory --gpu-memory=80B", "80GB"},
      {"memory --params=1B --active-params=2B", "at most --params"},
      {"memory --optimizer=lion", "adamw"},
      {"memory --weights=int3", "int4"},
      {"memory --layers=1 --hidden=8 --heads=3 --ffn=8 --vocab=9", "--head-dim"},
      {"memory --layers=1 --hidden=8 --heads=4 --kv-heads=3 --ffn=8 --vocab=9", "divisor"},
      {"memory --family=mamba", "expected a family"},
      {"activations", "--layers is needed"},
      {"activations --layer=unit --layers=8 --recompute=every-9", "1 to 8"},
      {"activations --layer=unit --layers=8 --recompute=every-0", "1 to 8"},
      {"activations --layer=unit --layers=8 --batch=3 --global-batch=8", "multiple"},
      {"decode", "--params"},
      {"decode --params=1B --context=1", "KV cache needs"},
      {"decode --params=1B --step-time=1ms", "--bandwidth"},
      {"nonsense", "subcommand is required"},
  };
  for (const auto& [arguments, cure] : kBad) {
    const Result r = plan(arguments);
    EXPECT_EQ(r.code, 2) << arguments;
    EXPECT_EQ(r.out.text, "") << arguments;
    EXPECT_NE(r.out.notes.find(cure), std::string::npos) << arguments << ": " << r.out.notes;
  }
  EXPECT_EQ(plan("memory --config=no/such/config.json").code, 1);
}

TEST(Plan, NoNumberIsEverInfiniteOrNan) {
  for (const char* arguments :
       {"time --params=9223372036854775807 --tokens=9223372036854775807 --gpus=9223372036854775807 "
        "--peak=1 --within=1us",
        "memory --params=9223372036854775807 --gpus=9223372036854775807 --gpu-memory=1",
        "decode --params=9223372036854775807 --bandwidth=1 --peak=1 --batch=9223372036854775807 "
        "--context=9223372036854775807 --kv-per-token=9223372036854775807",
        "activations --layers=10000 --hidden=1M --heads=10000 --sequence=9223372036854775807 "
        "--batch=9223372036854775807"}) {
    for (const char* format : {"table", "csv", "json"}) {
      Output out;
      run_command_line(words(fmt::format("plan {} --explain --format={}", arguments, format)), out);
      EXPECT_NE(out.text, "") << out.notes;
      EXPECT_EQ(out.text.find("inf"), std::string::npos) << out.text;
      EXPECT_EQ(out.text.find("nan"), std::string::npos) << out.text;
    }
  }
}

TEST(Plan, EveryComputedLineHasAUnitAFormulaAndWhatItLeavesOut) {
  for (const char* arguments :
       {"time " LLAMA3_8B
        "--tokens=15T --gpus=8 --spec=h100-sxm --attention=causal --sequence=8192 "
        "--recompute=full --within=1000000d",
        "memory --params=8B --gpus=8 --gpu-memory=80GB", GPT3_LAYERS,
        "decode " LLAMA3_8B "--spec=h100-sxm --context=8192 --prompt=100 --step-time=10ms"}) {
    const Result r = plan(arguments);
    EXPECT_EQ(r.code, 0) << r.out.notes;
    for (const auto& line : r.lines) {
      EXPECT_TRUE(line["formula"].is_string()) << line;
      EXPECT_TRUE(line["unit"].is_string() || line["value"].is_boolean()) << line;
    }
  }
}

TEST(Plan, MixturesOfExpertsNeedBothCounts) {
  const Result r =
      plan("decode --params=47B --active-params=13B --bandwidth=2TB/s --gpu-memory=80GB --gpus=2");
  EXPECT_EQ(r.number("weights"), 94e9);                   // memory: all
  EXPECT_DOUBLE_EQ(r.number("step"), 1e3 * 26e9 / 4e12);  // traffic: those that a token meets
  EXPECT_EQ(plan("time --params=47B --active-params=13B --tokens=1T").number("model FLOPs"),
            6 * 13e9 * 1e12);
}

TEST(Plan, ExplainPutsTheNumbersIntoTheFormula) {
  Output out;
  run_command_line(words("plan time --params=70B --tokens=15T --explain"), out);
  EXPECT_NE(out.text.find("6 N D = 6 x 70000000000 x 15000000000000"), std::string::npos)
      << out.text;
}

// ---- from a run ---------------------------------------------------------------------------------

/// A run's folder with these rows, for the length of a test.
class RunFolder {
 public:
  RunFolder(const std::vector<Record>& records, const std::vector<Roof>& roofs)
      : path_(std::filesystem::path(testing::TempDir()) / fmt::format("plan_from_{}", getpid())) {
    std::filesystem::create_directories(path_);
    std::ofstream measurements(path_ / "measurements.csv");
    measurements << csv_line(measurement_columns());
    for (const Record& r : records) measurements << csv_line(to_fields(r));
    std::ofstream(path_ / "roofs.csv") << csv_line(roof_columns());
    std::ofstream out(path_ / "roofs.csv", std::ios::app);
    for (const Roof& r : roofs) out << csv_line(to_fields(r, "run-1"));
  }
  ~RunFolder() { std::filesystem::remove_all(path_); }
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

Record row(Case what, const char* implementation, double flops_per_s, double bytes_per_s,
           Status status = Status::ok) {
  Record r;
  r.run_id = "run-1";
  r.device = "Test GPU";
  r.what = what;
  r.implementation = implementation;
  r.cache = "cold";
  r.achieved_flops_per_s = flops_per_s;
  r.achieved_bytes_per_s = bytes_per_s;
  r.status = status;
  return r;
}

// Made-up speeds: no device has them.
const std::vector<Record> kRows = {
    row(make_case(Op::gemm, Dtype::bf16, 1024, 1024, 1024), "lib", 100e12, 1e12),
    row(make_case(Op::gemm, Dtype::bf16, 8192, 8192, 8192), "lib", 600e12, 1e12),
    row(make_case(Op::gemm, Dtype::bf16, 8192, 8192, 8192), "faster", 700e12, 1e12),
    row(make_case(Op::gemm, Dtype::bf16, 8192, 8192, 8192), "broken", 999e12, 1e12, Status::failed),
    row(make_case(Op::gemm, Dtype::fp16, 16384, 16384, 16384), "lib", 990e12, 1e12),
    row(make_case(Op::gemv, Dtype::bf16, 8192, 8192, 1), "ours", 1e12, 2.0e12),
    row(make_case(Op::gemv, Dtype::bf16, 16384, 16384, 1), "ours", 1e12, 2.5e12),
};
const std::vector<Roof> kRoofs = {
    {.name = "tensor_bf16",
     .kind = Kind::datasheet,
     .pipe = Pipe::matrix,
     .dtype = Dtype::bf16,
     .per_s = 1000e12},
    {.name = "hbm", .kind = Kind::datasheet, .level = Level::memory, .per_s = 3e12},
};

TEST(PlanFrom, ShowsTheBoundAndTheExpectedSideBySide) {
  const RunFolder run(kRows, kRoofs);
  // 6 x 1e9 x 1e15 / (1000e12 x 86400) days at the peak; over 0.7 at the measured rate.
  const std::string time = "time --params=1B --tokens=1000T --gpus=1 --from=" + run.path();
  const Result bound = plan(time);
  EXPECT_DOUBLE_EQ(bound.number("training time, bound"), 6e24 / 1e15 / 86400);
  EXPECT_DOUBLE_EQ(bound.number("training time, bound", "", "expected"), 6e24 / 7e14 / 86400);
  EXPECT_TRUE(bound.line("training time")["expected"].is_null());
  EXPECT_EQ(bound.line("GEMM")["source"], "gemm/bf16/8192x8192x8192 by faster, run run-1");
  const Result expected = plan(time + " --system-factor=0.6");
  EXPECT_DOUBLE_EQ(expected.number("training time", "", "expected"), 6e24 / 4.2e14 / 86400);

  // 2e9 bytes of weights over 3e12 and over 2.5e12, the largest GEMV.
  const Result decode = plan("decode --params=1B --from=" + run.path());
  EXPECT_DOUBLE_EQ(decode.number("step"), 1e3 * 2e9 / 3e12);
  EXPECT_DOUBLE_EQ(decode.number("step", "", "expected"), 1e3 * 2e9 / 2.5e12);
}

TEST(PlanFrom, TakesTheNearestGemm) {
  const RunFolder run(kRows, kRoofs);
  const Result r = plan(
      "time --layers=2 --hidden=1000 --heads=10 --ffn=2000 --vocab=10 --tokens=1B "
      "--gpus=1 --micro-batch=1 --sequence=512 --from=" +
      run.path());
  EXPECT_EQ(r.number("GEMM", "", "expected"), 100e12) << r.out.notes;
}

TEST(PlanFrom, ARunWithoutDataSheetHasNoBound) {
  const RunFolder run(kRows, {});
  const Result r = plan("time --params=1B --tokens=1000T --gpus=1 --from=" + run.path());
  EXPECT_TRUE(r.line("training time, bound")["value"].is_null());
  EXPECT_DOUBLE_EQ(r.number("training time, bound", "", "expected"), 6e24 / 7e14 / 86400);
}

TEST(PlanFrom, SaysThatATypeWasNotMeasured) {
  const RunFolder run(kRows, kRoofs);
  const Result r = plan("decode --params=1B --dtype=fp8_e4m3 --from=" + run.path());
  EXPECT_NE(r.out.notes.find("no fp8_e4m3 GEMV"), std::string::npos) << r.out.notes;
}

TEST(PlanFrom, RefusesASpecThatIsNotTheRuns) {
  const RunFolder run(kRows, kRoofs);
  const Result r = plan("time --params=1B --tokens=1B --spec=h100-sxm --from=" + run.path());
  EXPECT_EQ(r.code, 2);
  EXPECT_NE(r.out.notes.find("Test GPU"), std::string::npos) << r.out.notes;
}

TEST(PlanFrom, AMissingRunIsABadFile) {
  EXPECT_EQ(plan("time --params=1B --tokens=1B --from=no/such/run").code, 1);
}

TEST(PlanFrom, MemoryIsWhatTheDeviceReports) {
  const RunFolder run(kRows, kRoofs);
  const Result unknown = plan("memory --gpus=8 --from=" + run.path());
  EXPECT_EQ(unknown.code, 1);
  EXPECT_NE(unknown.out.notes.find("has no memory_bytes; --gpu-memory says it"), std::string::npos)
      << unknown.out.notes;
  std::ofstream(run.path() + "/environment.json") << R"({"device": {"memory_bytes": 84.0e9}})";
  const auto largest = [&](const std::string& options) {
    return plan("memory --gpus=8 --from=" + run.path() + options).number("largest model, zero3");
  };
  EXPECT_EQ(largest(""), 56e9);  // 8 x 84e9 / 12
  EXPECT_EQ(largest(" --gpu-memory=12GB"), 8e9);
  EXPECT_EQ(plan("memory --spec=h100-sxm --from=" + run.path()).code, 2);
}

}  // namespace
}  // namespace roofline
