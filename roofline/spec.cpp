#include "roofline/spec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace roofline {
namespace {

struct PipeType {
  Pipe pipe;
  Dtype dtype;
  std::size_t column;  // in Rates and in Spec::tflops
};
constexpr PipeType kColumns[] = {
    {Pipe::vector, Dtype::fp64, 0},     {Pipe::matrix, Dtype::fp64, 1},
    {Pipe::vector, Dtype::fp32, 2},     {Pipe::vector, Dtype::fp16, 3},
    {Pipe::vector, Dtype::bf16, 4},     {Pipe::matrix, Dtype::tf32, 5},
    {Pipe::matrix, Dtype::fp16, 6},     {Pipe::matrix, Dtype::bf16, 7},
    {Pipe::matrix, Dtype::fp8_e4m3, 8}, {Pipe::matrix, Dtype::fp8_e5m2, 8},
    {Pipe::matrix, Dtype::nvfp4, 9},
};

// clang-format off

// Sources: openxla/xla cuda_core_info_table.cc; NVIDIA/cudnn-frontend 650 (4096 and 8192 on Hopper);
// for sm_120 a study of the RTX 5060 Ti that quotes the CUDA guides. GeForce parts run fp32
// accumulation at half rate, the workstation and data-centre parts of the same capability do not.
constexpr Rates kRates[] = {
    //                        fp64 fp64t fp32 fp16 bf16  tf32 fp16t bf16t   fp8  nvfp4
    {"sm_75",          7, 5, {  0,   0, 128, 256,   0,    0, 1024,    0,     0,     0}},
    {"sm_75 GeForce",  7, 5, {  0,   0, 128, 256,   0,    0,  512,    0,     0,     0}},
    {"sm_80",          8, 0, { 64, 128, 128, 512, 256, 1024, 2048, 2048,     0,     0}},
    {"sm_86",          8, 6, {  4,   0, 256, 256, 256,  512, 1024, 1024,     0,     0}},
    {"sm_86 GeForce",  8, 6, {  4,   0, 256, 256, 256,  256,  512,  512,     0,     0}},
    {"sm_89",          8, 9, {  4,   0, 256, 256, 256,  512, 1024, 1024,  2048,     0}},
    {"sm_89 GeForce",  8, 9, {  4,   0, 256, 256, 256,  256,  512,  512,  1024,     0}},
    {"sm_90",          9, 0, {128, 256, 256, 512, 512, 2048, 4096, 4096,  8192,     0}},
    {"sm_90 H20",      9, 0, {  0,   0, 256, 512, 512,  512, 1024, 1024,  2048,     0}},
    {"sm_90 H800",     9, 0, {  0,   0, 256, 512, 512, 2048, 4096, 4096,  8192,     0}},
    {"sm_100",        10, 0, {128, 128, 256, 256, 256, 4096, 8192, 8192, 16384, 32768}},
    {"sm_103",        10, 3, {  0,   0, 256, 256, 256, 4096, 8192, 8192, 16384,     0}},
    {"sm_120",        12, 0, {  4,   0, 256, 256, 256,  512, 1024, 1024,  2048,  4096}},
    {"sm_120 GeForce",12, 0, {  4,   0, 256, 256, 256,  256,  512,  512,  1024,  4096}},
    {"sm_121",        12, 1, {  0,   0, 256, 256, 256,    0,    0,    0,     0,     0}},
};

/// The one place where a sheet's number that assumes 2:4 sparsity is halved.
constexpr Figure sparse(double printed) {
  Figure figure(printed / 2);
  figure.halved = true;
  return figure;
}

/// No primary source was read for it.
constexpr Figure unverified(Figure figure) {
  figure.verified = false;
  return figure;
}

constexpr const Rates* rates(std::string_view name) {
  for (const Rates& r : kRates) {
    if (r.name == name) return &r;
  }
  throw "no such row";  // at compile time: an error
}

// NOLINTBEGIN(readability-identifier-naming): short, for the table is full of them
constexpr auto s = &sparse;
constexpr auto u = &unverified;
// NOLINTEND(readability-identifier-naming)

// To add a device: its row, with the names its driver gives it, and its row in spec_test.cpp.
// Columns: name, driver's names, rates, SMs, boost MHz, tensor MHz,
// {fp64, fp64 tensor, fp32, fp16, bf16 | tensor: tf32, fp16, bf16, fp8, nvfp4} in TFLOP/s,
// memory, GB, bus bits, memory MHz, TB/s, L2 MB, W, source.
// The tensor clock is the one that reproduces the sheet: H100 SXM counts its tensor cores at 1830 MHz
// and its CUDA cores at 1980 (NVIDIA H100 whitepaper 1.04).
constexpr Spec kSpecs[] = {
    {"h100-sxm", {"H100 80GB HBM3"}, rates("sm_90"), 132, 1980, 1830,
     {34, 67, 67, 133.8, 133.8, s(989), s(1979), s(1979), s(3958), 0},
     "hbm", 80, 5120, 2619, 3.35, 50, 700, "NVIDIA H100 data sheet, SXM; packed types: H100 whitepaper"},
    {"h100-pcie", {"H100 PCIe"}, rates("sm_90"), 114, 1755, 1620,
     {26, 51, 51, 102.4, 102.4, s(756), s(1513), s(1513), s(3026), 0},
     "hbm", 80, 5120, 1593, 2.039, 50, 350, "NVIDIA H100 data sheet, PCIe; packed types and memory: H100 whitepaper"},
    {"h100-nvl", {"H100 NVL"}, rates("sm_90"), 132, 1785, 1545,
     {30, 60, 60, 0, 0, s(835), s(1671), s(1671), s(3341), 0},
     "hbm", 94, 6016, 2619, u(3.9), 50, 400, "NVIDIA H100 data sheet, NVL"},
    {"h200-sxm", {"H200"}, rates("sm_90"), 132, 1980, 1830,
     {34, 67, 67, 133.8, 133.8, s(989), s(1979), s(1979), s(3958), 0},
     // Bus and L2 as a card's attributes give them (results/reference/nvidia-h200): 47 of 48 channels.
     "hbm", 141, 6016, 3201, 4.8, 60, 700, "NVIDIA H200 data sheet, SXM; packed types: H100 whitepaper"},
    {"h200-nvl", {"H200 NVL"}, rates("sm_90"), 132, 1785, 1545,
     {30, 60, 60, 0, 0, s(835), s(1671), s(1671), s(3341), 0},
     "hbm", 141, 6144, 3201, 4.8, 50, 600, "NVIDIA H200 data sheet, NVL"},
    {"h800", {"H800"}, rates("sm_90 H800"), 132, 1980, 1830,
     {u(1), u(1), u(67), 0, 0, u(s(989)), u(s(1979)), u(s(1979)), u(s(3958)), 0},
     "hbm", 80, 5120, 2619, u(3.35), 50, 700, "H800 SXM, as reported"},
    {"h20", {"H20"}, rates("sm_90 H20"), 78, 1980, 1853,
     {u(1), u(1), u(44), 0, 0, 74, 148, 148, 296, 0},
     "hbm", 96, 6144, 2619, 4.0, 60, 400, "H20 figures in Dao-AILab/flash-attention 1310"},
    {"gh200-96gb", {"GH200 480GB", "GH200 120GB"}, rates("sm_90"), 132, 1980, 1830,
     {34, 67, 67, 133.8, 133.8, s(989), s(1979), s(1979), s(3958), 0},
     "hbm", 96, 6144, 2619, 4.0, 50, 900, "NVIDIA GH200 data sheet, HBM3; packed types: H100 whitepaper"},
    {"gh200-144gb", {"GH200 480GB", "GH200 144G HBM3e"}, rates("sm_90"), 132, 1980, 1830,
     {34, 67, 67, 133.8, 133.8, s(989), s(1979), s(1979), s(3958), 0},
     "hbm", 144, 6144, 3201, 4.9, 50, 900, "NVIDIA GH200 data sheet, HBM3e; packed types: H100 whitepaper"},
    {"a100-sxm-40gb", {"A100-SXM4-40GB", "A100-SXM-40GB"}, rates("sm_80"), 108, 1410, 1410,
     {9.7, 19.5, 19.5, 78, 39, 156, 312, 312, 0, 0},
     "hbm", 40, 5120, 1215, 1.555, 40, 400, "NVIDIA A100 data sheet, SXM 40 GB; packed types: A100 whitepaper"},
    {"a100-sxm-80gb", {"A100-SXM4-80GB", "A100-SXM-80GB"}, rates("sm_80"), 108, 1410, 1410,
     {9.7, 19.5, 19.5, 78, 39, 156, 312, 312, 0, 0},
     "hbm", 80, 5120, 1593, 2.039, 40, 400, "NVIDIA A100 data sheet, SXM 80 GB; packed types: A100 whitepaper"},
    {"a100-pcie-40gb", {"A100-PCIE-40GB"}, rates("sm_80"), 108, 1410, 1410,
     {9.7, 19.5, 19.5, 78, 39, 156, 312, 312, 0, 0},
     "hbm", 40, 5120, 1215, 1.555, 40, 250, "NVIDIA A100 data sheet, PCIe 40 GB; packed types: A100 whitepaper"},
    {"a100-pcie-80gb", {"A100 80GB PCIe"}, rates("sm_80"), 108, 1410, 1410,
     {9.7, 19.5, 19.5, 78, 39, 156, 312, 312, 0, 0},
     "hbm", 80, 5120, 1512, 1.935, 40, 300, "NVIDIA A100 data sheet, PCIe 80 GB; packed types: A100 whitepaper"},
    {"a30", {"A30"}, rates("sm_80"), 56, 1440, 1440,
     {5.2, 10.3, 10.3, 0, 0, 82, 165, 165, 0, 0},
     "hbm", 24, 3072, 1215, 0.933, 24, 165, "NVIDIA A30 data sheet"},
    {"a10", {"A10"}, rates("sm_86"), 72, 1695, 1695,
     {0, 0, 31.2, 0, 0, 62.5, 125, 125, 0, 0},
     "gddr", 24, 384, 6251, 0.600, 6, 150, "NVIDIA A10 data sheet"},
    {"l4", {"L4"}, rates("sm_89"), 58, 2040, 2040,
     {0, 0, 30.3, 0, 0, s(120), s(242), s(242), s(485), 0},
     "gddr", 24, 192, 6251, 0.300, 48, 72, "NVIDIA L4 data sheet"},
    {"l40s", {"L40S"}, rates("sm_89"), 142, 2520, 2520,
     {0, 0, 91.6, 0, 0, 183, 362, 362, 733, 0},
     "gddr", 48, 384, 9001, 0.864, 96, 350, "NVIDIA L40S data sheet"},
    {"rtx-4090", {"GeForce RTX 4090"}, rates("sm_89 GeForce"), 128, 2520, 2520,
     {0, 0, 82.6, 82.6, 82.6, 82.6, 165.2, 165.2, 330.3, 0},
     "gddr", 24, 384, 10501, 1.008, 72, 450, "NVIDIA Ada GPU architecture whitepaper, fp32 accumulation"},
    {"rtx-5090", {"GeForce RTX 5090"}, rates("sm_120 GeForce"), 170, 2407, 2407,
     {0, 0, 104.8, 104.8, 104.8, 104.8, 209.5, 209.5, 419, 1676},
     "gddr", 32, 512, 14001, 1.792, 96, 575, "NVIDIA RTX Blackwell whitepaper, fp32 accumulation"},
    {"rtx-pro-6000", {"RTX PRO 6000 Blackwell Workstation Edition"}, rates("sm_120"), 188, 2617, 2617,
     {0, 0, u(126), 0, 0, u(252), u(503.8), u(503.8), u(1007.6), u(s(4000))},
     "gddr", 96, 512, 14001, u(1.792), 128, 600, "derived from 188 SMs (NVIDIA/cudnn-frontend 1164)"},
    {"b200", {"B200"}, rates("sm_100"), 148, 1965, 1856,
     {37, 37, 75, 0, 0, s(2250), s(4500), s(4500), s(9000), s(18000)},
     "hbm", 180, 7680, 3996, 8.0, 126, 1000, "NVIDIA HGX B200 data sheet, one GPU of eight; some editions print 7.7 TB/s"},
    {"b300", {"B300 SXM6 AC", "B300"}, rates("sm_103"), 148, 0, 0,
     {u(1.25), u(1.25), u(75), 0, 0, u(s(2250)), u(s(4500)), u(s(4500)), u(s(9000)), u(13500)},
     "hbm", 288, 0, 0, u(8.0), 126, 1400, "HGX B300, one GPU of eight, as reported"},
    {"gb200", {"GB200"}, rates("sm_100"), 148, 2062, 2062,
     {40, 40, 80, 0, 0, s(2500), s(5000), s(5000), s(10000), s(20000)},
     "hbm", 186, 0, 0, 8.0, 126, 1200, "NVIDIA GB200 NVL72 data sheet, one GPU of 72"},
    {"t4", {"T4"}, rates("sm_75"), 40, 1590, 1590,
     {0, 0, 8.1, 0, 0, 0, 65, 0, 0, 0},
     "gddr", 16, 256, 5001, 0.320, 4, 70, "NVIDIA T4 data sheet"},
    {"gb10", {"GB10"}, rates("sm_121"), 48, 0, 0,
     {0, 0, u(31), 0, 0, 0, 0, 0, 0, u(s(1000))},
     "lpddr", 128, 256, 4266, 0.273, 24, 140, "NVIDIA DGX Spark data sheet"},
};
// clang-format on

std::string roof_name(const PipeType& type) {
  return fmt::format("{}_{}", type.pipe == Pipe::matrix ? "tensor" : "cuda_core", name(type.dtype));
}

std::string_view without_maker(std::string_view device) {
  for (const std::string_view maker : {"NVIDIA ", "Tesla "}) {
    if (device.starts_with(maker)) device.remove_prefix(maker.size());
  }
  return device;
}

bool has_name(const Spec& spec, std::string_view device) {
  return !device.empty() &&
         std::find(spec.devices.begin(), spec.devices.end(), device) != spec.devices.end();
}

/// 80 GB are reported as 85.0e9, and a B200's 7680 bits as 8192 by old drivers. What is unknown on
/// either side does not speak against a match.
bool near(double sheet, double reported) {
  return sheet == 0 || reported == 0 || std::fabs(reported / sheet - 1) < 0.12;
}

/// The units of a product known by name, of a partition of one ("... MIG 1g.10gb"), or else of its
/// compute capability; null where that is not in the table.
const Rates* rates_of(const DeviceFacts& facts) {
  const std::string_view device = without_maker(facts.name);
  const std::string_view product = device.substr(0, device.find(" MIG "));
  for (const Spec& spec : kSpecs) {
    if (has_name(spec, product)) return spec.rates;
  }
  const auto fits = [&](const Rates& r) {
    return r.major == facts.compute_major && r.minor == facts.compute_minor &&
           (!product.starts_with("GeForce ") || r.name.ends_with("GeForce"));
  };
  const auto found = std::find_if(std::begin(kRates), std::end(kRates), fits);
  return found == std::end(kRates) ? nullptr : found;
}

std::vector<Roof> derived_roofs(const DeviceFacts& facts) {
  std::vector<Roof> roofs;
  const Spec* spec = match_spec(facts);
  if (!facts.partition && facts.bus_bits && facts.memory_clock_mhz) {
    // HBM comes in stacks of 1024 bits, GDDR in chips of 32 bits, and no card has 32 chips.
    const std::string_view memory = spec != nullptr          ? spec->memory
                                    : *facts.bus_bits > 1024 ? "hbm"
                                                             : "gddr";
    roofs.push_back({.name = std::string(memory),
                     .kind = Kind::derived,
                     .level = Level::memory,
                     .per_s = pin_rate(*facts.bus_bits, *facts.memory_clock_mhz).value,
                     .source = fmt::format("{} bit x {} MHz x 2 / 8", *facts.bus_bits,
                                           *facts.memory_clock_mhz)});
  }
  const int generation = facts.pcie_generation.value_or(0), lanes = facts.pcie_lanes.value_or(0);
  if (const double per_s = pcie_rate(generation, lanes).value; per_s > 0) {
    roofs.push_back(
        {.name = "pcie",
         .kind = Kind::derived,
         .level = Level::link,
         .per_s = per_s,
         .source = fmt::format("PCIe generation {} x {} lanes, each way", generation, lanes)});
  }
  const Rates* units = rates_of(facts);
  if (units == nullptr || !facts.max_clock_mhz) return roofs;
  for (const PipeType& type : kColumns) {
    const double rate = units->flops_per_clock[type.column];
    if (rate == 0) continue;
    roofs.push_back({.name = roof_name(type),
                     .kind = Kind::derived,
                     .pipe = type.pipe,
                     .dtype = type.dtype,
                     .per_s = derived_peak(facts.processors, rate, *facts.max_clock_mhz).value,
                     .clock_mhz = facts.max_clock_mhz,
                     .source = fmt::format("{} SM x {} FLOP/clk ({}) x {} MHz", facts.processors,
                                           rate, units->name, *facts.max_clock_mhz)});
  }
  return roofs;
}

std::string sheet_source(const Spec& spec, const Figure& figure) {
  return fmt::format(
      "{}{}{}", figure.verified ? "" : kUnverified,
      figure.halved ? fmt::format("{} with 2:4 sparsity / 2; ", 2 * figure.value) : "",
      spec.source);
}

}  // namespace

std::span<const Spec> specs() { return kSpecs; }

const Spec* find_spec(std::string_view name) {
  const auto found = std::find_if(std::begin(kSpecs), std::end(kSpecs),
                                  [&](const Spec& spec) { return spec.name == name; });
  return found == std::end(kSpecs) ? nullptr : found;
}

const Spec& spec_named(std::string_view name) {
  if (const Spec* spec = find_spec(name)) return *spec;
  std::vector<std::string_view> names;
  for (const Spec& spec : kSpecs) names.push_back(spec.name);
  throw std::invalid_argument(
      fmt::format("spec: expected one of {}; got \"{}\"", fmt::join(names, " "), name));
}

const Spec* match_spec(const DeviceFacts& facts) {
  if (facts.backend != "cuda" || facts.partition) return nullptr;
  for (const Spec& spec : kSpecs) {
    if (has_name(spec, without_maker(facts.name)) && facts.processors == spec.sms &&
        near(spec.memory_gb * 1e9, facts.memory_bytes) &&
        near(spec.bus_bits, facts.bus_bits.value_or(0))) {
      return &spec;
    }
  }
  return nullptr;
}

std::vector<Peak> peaks_of(const Spec& spec) {
  std::vector<Peak> peaks;
  for (const PipeType& type : kColumns) {
    const double rate = spec.rates->flops_per_clock[type.column];
    const Figure figure = spec.tflops[type.column];
    if (rate == 0 && figure.value == 0) continue;
    // FP64 tensor figures assume the boost clock, as the CUDA cores' do.
    const bool boost = type.pipe == Pipe::vector || type.dtype == Dtype::fp64;
    peaks.push_back({roof_name(type), type.pipe, type.dtype, rate,
                     boost ? spec.core_mhz : spec.tensor_mhz, figure});
  }
  return peaks;
}

std::vector<Roof> roofs_of(const Spec& spec) {
  std::vector<Roof> roofs{{.name = std::string(spec.memory),
                           .kind = Kind::datasheet,
                           .level = Level::memory,
                           .per_s = spec.tb_per_s.value * 1e12,
                           .source = sheet_source(spec, spec.tb_per_s)}};
  for (const Peak& peak : peaks_of(spec)) {
    if (peak.tflops.value == 0) continue;
    Roof roof{.name = peak.name,
              .kind = Kind::datasheet,
              .pipe = peak.pipe,
              .dtype = peak.dtype,
              .per_s = peak.tflops.value * 1e12,
              .source = sheet_source(spec, peak.tflops)};
    if (peak.clock_mhz > 0) roof.clock_mhz = peak.clock_mhz;
    roofs.push_back(std::move(roof));
  }
  return roofs;
}

std::vector<Roof> theoretical_roofs(const DeviceFacts& facts) {
  if (facts.backend != "cuda") return {};
  std::vector<Roof> roofs;
  if (const Spec* spec = match_spec(facts)) roofs = roofs_of(*spec);
  for (Roof& roof : derived_roofs(facts)) roofs.push_back(std::move(roof));
  return roofs;
}

std::vector<std::string> notes_on(const DeviceFacts& facts) {
  if (facts.backend != "cuda") return {};
  std::vector<std::string> notes;
  const Spec* spec = match_spec(facts);
  if (spec == nullptr) {
    notes.push_back(fmt::format(
        "no data sheet for \"{}\"{} (compute capability {}.{}, {} SMs, {:.1f} GB): roofs are "
        "derived from its attributes, MFU is empty; its row belongs into kSpecs in "
        "roofline/spec.cpp",
        facts.name, facts.partition ? ", a part of a card" : "", facts.compute_major,
        facts.compute_minor, facts.processors, facts.memory_bytes / 1e9));
    return notes;
  }
  const std::vector<Roof> sheet = roofs_of(*spec);
  for (const Roof& derived : derived_roofs(facts)) {
    const auto same = std::find_if(sheet.begin(), sheet.end(),
                                   [&](const Roof& r) { return r.name == derived.name; });
    if (same == sheet.end()) continue;
    const double clocks =
        derived.clock_mhz && same->clock_mhz ? *same->clock_mhz / *derived.clock_mhz : 1;
    if (std::fabs(derived.per_s * clocks / same->per_s - 1) <= 0.15) continue;
    notes.push_back(
        fmt::format("{}: the data sheet says {:.4g}, the device's attributes {:.4g} ({})",
                    derived.name, same->per_s, derived.per_s * clocks, derived.source));
  }
  return notes;
}

}  // namespace roofline
