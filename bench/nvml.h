// NVML, opened at run time and never linked: what the driver says of a GPU while it works.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "bench/device.h"

namespace bench {

/// A mask of clock-event reasons in words: "sw_power_cap|hw_thermal". Idleness is left out: a GPU
/// is idle whenever it is asked between two samples.
std::string clock_event_words(std::uint64_t mask);

/// One GPU's readings. Whatever cannot be had (no library, an old or a partial one, no permission)
/// is empty.
class Nvml {
 public:
  /// `pci_bus_id` as cudaDeviceGetPCIBusId() has it, for NVML counts GPUs in an order of its own.
  /// Made before this process uses the GPU, so that all processes found on it are others.
  explicit Nvml(const std::string& pci_bus_id, const char* library = "libnvidia-ml.so.1");
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  /// One line that names what cannot be read, and why; empty if all can.
  const std::string& notice() const { return notice_; }

  /// All but power, whose meter averages over the last second: see energy_j().
  Telemetry telemetry() const;
  /// Joules since the driver was loaded: the difference over >= 0.5 s of one load gives its power.
  std::optional<double> energy_j() const;
  /// Of the link to the host, the best that GPU, slot and board allow together. (What they use just
  /// now is less while they idle.)
  std::optional<int> pcie_generation() const;
  std::optional<int> pcie_lanes() const;
  /// Driver, power limit, ECC, MIG, persistence, other processes: what is known of them.
  std::map<std::string, std::string> environment() const;

 private:
  /// Calls `function`(device, arguments...); whether it exists and succeeded.
  template <typename... Arguments>
  bool call(const char* function, Arguments... arguments) const;
  /// The one value that `function`(device, keys..., &value) reads.
  template <typename Value, typename... Keys>
  std::optional<Value> value(const char* function, Keys... keys) const;
  std::optional<std::uint64_t> clock_events() const;
  std::string error(int code) const;

  void* library_ = nullptr;
  void* device_ = nullptr;  // an nvmlDevice_t
  bool initialised_ = false;
  std::optional<unsigned> other_processes_;
  std::string notice_;
};

}  // namespace bench
