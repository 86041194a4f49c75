// Roofs: the ceilings of a device, and where a measured point stands under them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "roofline/case.h"
#include "roofline/units.h"

namespace roofline {

/// Where a roof's number comes from; in this order it is preferred as a row's roof.
enum class Kind {
  datasheet,  // what the maker prints, dense
  derived,    // units x rate x maximum clock, bus x memory clock: from the device's own attributes
  measured,   // by this run, with the same timer as the points
};
std::string_view name(Kind kind);
std::optional<Kind> parse_kind(std::string_view name);

/// Memory levels: `memory` is HBM, GDDR or a CPU's DRAM, `cache` the last-level cache, `link` the
/// host's memory as the device reaches it.
enum class Level { none, memory, cache, link };
std::string_view name(Level level);
std::optional<Level> parse_level(std::string_view name);
std::string_view name(Pipe pipe);
std::optional<Pipe> parse_pipe(std::string_view name);
std::string_view name(Access access);
std::optional<Access> parse_access(std::string_view name);

/// One ceiling: one line of the plot, one row of roofs.csv. Either a memory roof (level, bytes/s)
/// or a compute roof (pipe and dtype, FLOP/s).
struct Roof {
  std::string name;  // "hbm", "tensor_bf16", "read" ...; unique among roofs of its kind
  Kind kind = Kind::measured;
  Level level = Level::none;
  Access access = Access::none;  // of a measured memory roof: the mix that reached it
  Pipe pipe = Pipe::none;
  std::optional<Dtype> dtype;       // of a compute roof
  double per_s = 0;                 // byte/s or FLOP/s
  std::optional<double> clock_mhz;  // at which a compute roof holds
  std::string source;               // data sheet and row; formula; the group that measured it

  bool is_memory() const { return level != Level::none; }
  BytesPerS bytes_per_s() const { return {is_memory() ? per_s : 0}; }
  FlopsPerS flops_per_s() const { return {is_memory() ? 0 : per_s}; }
};

/// What a device says about itself, from which roofs are looked up and derived. Unknown is empty.
struct DeviceFacts {
  std::string backend;  // "cuda", "cpu", "fake"
  std::string name;     // "NVIDIA H100 80GB HBM3"
  std::string uuid;
  int compute_major = 0, compute_minor = 0;  // CUDA compute capability
  int processors = 1;                        // SMs; threads of a cpu run
  double memory_bytes = 0, cache_bytes = 0;  // total; last-level cache
  std::optional<double> bus_bits;
  std::optional<double> memory_clock_mhz;  // as the driver reports it; two transfers a clock
  std::optional<double> max_clock_mhz;     // SM clock
  bool partition = false;                  // a MIG slice: no full card's peak applies
  std::optional<int> pcie_generation, pcie_lanes;  // at best, of this device in this machine
};

/// min(peak, intensity x bandwidth); the two meet at the ridge point, peak / bandwidth.
/// Source: Williams, Waterman and Patterson, CACM 52(4), 2009.
constexpr FlopsPerS attainable(Intensity intensity, FlopsPerS peak, BytesPerS bandwidth) {
  const FlopsPerS at_bandwidth = intensity * bandwidth;
  return at_bandwidth < peak ? at_bandwidth : peak;
}

constexpr Intensity ridge(FlopsPerS peak, BytesPerS bandwidth) { return peak / bandwidth; }

enum class Bound { memory, compute, launch };
std::string_view name(Bound bound);
std::optional<Bound> parse_bound(std::string_view name);

/// The roofs above a case; null where none is known.
struct Placing {
  const Roof* memory = nullptr;           // of its level, best kind known
  const Roof* compute = nullptr;          // of its pipe and dtype, best kind known
  const Roof* measured_memory = nullptr;  // of its level and access mix
  const Roof* measured_compute = nullptr;
  /// The roof that binds: memory left of the ridge, compute right of it.
  const Roof* roof = nullptr;
  std::optional<Bound> bound;
  /// The least time that the roofs allow; empty where one that may bind is unknown.
  std::optional<Seconds> roof_time, measured_roof_time;
};

/// Where the data of a case come from that no cache holds.
Level uncached_level(const Case& c);

/// Finds the roofs above `c` when its data come from `level`.
Placing place(const Case& c, Level level, std::span<const Roof> roofs);

/// The dense peak that MFU is counted against: the data sheet's, of the fastest GEMM pipe for the
/// dtype (fp32: the vector pipe). Null where unknown, for GeLU, whose FLOPs are a decree, and for
/// ops that do no arithmetic.
const Roof* mfu_peak(const Case& c, std::span<const Roof> roofs);

}  // namespace roofline
