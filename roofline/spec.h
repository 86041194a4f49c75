// Data sheets: what each product can do per pipe and type, which product a live device is, and the
// roofs that follow. A device that is not in the table gets derived roofs, never another's peak.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "roofline/roof.h"

namespace roofline {

/// The figures of a product are kept per pipe and type, in this order: CUDA cores fp64, tensor
/// cores fp64; CUDA cores fp32, packed fp16, packed bf16; tensor cores tf32, fp16, bf16, fp8,
/// nvfp4.
inline constexpr std::size_t kPipeTypes = 10;

/// Dense FLOPs per SM per clock, a multiply-add counted as 2; 0 where there is no such unit, or no
/// source for its rate. On GeForce, with fp32 accumulation, which the suite uses.
struct Rates {
  std::string_view name;  // "sm_90", "sm_89 GeForce", "sm_90 H20"
  int major, minor;       // CUDA compute capability
  std::array<double, kPipeTypes> flops_per_clock;
};

/// One printed figure, dense: TFLOP/s or TB/s. 0 where the sheet prints none.
struct Figure {
  // NOLINTNEXTLINE(google-explicit-constructor): the table is full of them
  constexpr Figure(double dense = 0) : value(dense) {}
  double value;
  bool halved = false;   // the sheet prints twice the value, with 2:4 sparsity
  bool verified = true;  // false: no primary source was read; no verdict rests on it
};

/// One data sheet.
struct Spec {
  std::string_view name;                    // "h100-sxm"
  std::array<std::string_view, 2> devices;  // as drivers name it, without "NVIDIA"
  const Rates* rates;
  int sms;
  double core_mhz,
      tensor_mhz;  // boost clock; the clock behind the sheet's tensor figures. 0: unknown
  std::array<Figure, kPipeTypes> tflops;
  std::string_view memory;                 // "hbm", "gddr", "lpddr"
  double memory_gb, bus_bits, memory_mhz;  // two transfers a clock
  Figure tb_per_s;
  double cache_mb, watts;
  std::string_view source;
};

std::span<const Spec> specs();

/// By name, "h100-sxm"; null where there is none.
const Spec* find_spec(std::string_view name);
/// The same for what a user typed: throws std::invalid_argument with all names where it is none.
const Spec& spec_named(std::string_view name);

/// The product that a device is: its name exactly, its SM count, and bus width and memory size
/// within 12 % (a card of 80 GB reports 85.0e9). Null for all else, partitions of a card included.
const Spec* match_spec(const DeviceFacts& facts);

/// One compute figure of a spec, with what its arithmetic needs.
struct Peak {
  std::string name;  // "tensor_bf16", "cuda_core_fp32"
  Pipe pipe;
  Dtype dtype;
  double flops_per_clock;  // per SM; 0: unknown
  double clock_mhz;        // that the sheet's figure assumes; 0: unknown
  Figure tflops;
};
std::vector<Peak> peaks_of(const Spec& spec);

/// What the sheet prints, dense: a memory roof, and a compute roof for each pipe and type. The
/// source of what is not verified begins with kUnverified.
std::vector<Roof> roofs_of(const Spec& spec);
inline constexpr std::string_view kUnverified = "unverified: ";

/// The data sheet's roofs, where the device is in the table, and the derived ones: SMs x FLOP/clk x
/// maximum SM clock, bus x memory clock x 2 / 8, the PCIe link's rate. The derived ones are also
/// the hard limits. Rates are the product's, else its compute capability's, and the source says
/// which. A partition of a card has derived compute roofs of its own SMs and no memory roof; a
/// backend other than "cuda" has none.
std::vector<Roof> theoretical_roofs(const DeviceFacts& facts);

/// What a user should know about those roofs: that the device is in no table and how to add it;
/// where a derived roof and the sheet's differ by more than 15 % at the same clock. One line each.
std::vector<std::string> notes_on(const DeviceFacts& facts);

/// SMs x FLOP/clk x MHz.
constexpr FlopsPerS derived_peak(double sms, double flops_per_clock, double clock_mhz) {
  return {sms * flops_per_clock * clock_mhz * 1e6};
}

/// The rate of the pins: two transfers a clock, eight bits a byte.
constexpr BytesPerS pin_rate(double bus_bits, double memory_mhz) {
  return {bus_bits * memory_mhz * 1e6 * 2 / 8};
}

/// GT/s x lanes / 8, less the line code: 8 bits in 10 up to generation 2, 128 in 130 up to 5, none
/// from 6 on. A packet's header takes 5 to 20 % more, so that no copy reaches it. 0: unknown.
/// Source: PCI Express Base Specification 6.0.
constexpr BytesPerS pcie_rate(int generation, int lanes) {
  constexpr double kGigatransfersPerS[] = {2.5 * 8 / 10,     5.0 * 8 / 10,     8.0 * 128 / 130,
                                           16.0 * 128 / 130, 32.0 * 128 / 130, 64.0};
  if (generation < 1 || generation > 6) return {0};
  return {kGigatransfersPerS[generation - 1] * 1e9 * lanes / 8};
}

}  // namespace roofline
