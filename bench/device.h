// What the benchmark asks of a device: facts, memory, inputs and time. cuda, cpu, and the tests'
// fake.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>

#include "kernels/table.h"
#include "roofline/roof.h"

namespace bench {

/// What was asked for cannot be had on this machine (exit code 3).
struct Unavailable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Memory ran out; what() names the bytes asked for and the bytes free.
struct OutOfMemory : std::runtime_error {
  OutOfMemory(double asked_bytes, double free_bytes);
};

/// The device is gone: every further call will fail, so the run ends here.
struct DeviceLost : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What the hardware says of itself at one moment. Unknown is empty.
struct Telemetry {
  std::optional<double> sm_clock_mhz, memory_clock_mhz, power_w, temperature_c;
  /// The SM clock again, of one moment, where sm_clock_mhz is the mean over the runs: a check.
  std::optional<double> momentary_sm_clock_mhz;
  std::string throttle_reasons;  // "sw_power_cap|hw_thermal"; empty for none or unknown
  /// Share of the runs since the last reading that threads spent waiting for a processor for more
  /// than 2 % of their time. Of a cpu.
  std::optional<double> held_up;
};

/// Device memory, freed with its last owner.
using Memory = std::shared_ptr<void>;

/// Launches over rotating copies that can be run and timed again and again.
struct Timed {
  int launches;                   // in one run
  std::function<double()> run_s;  // runs them all, returns seconds from first start to last end
};

class Device {
 public:
  Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  virtual ~Device() = default;

  virtual const roofline::DeviceFacts& facts() const = 0;
  /// The kernels of this project that run here.
  virtual std::span<const kernels::Kernel> kernels() const = 0;
  virtual kernels::Queue queue() const = 0;

  virtual double free_bytes() const = 0;
  /// 256-byte aligned. Throws OutOfMemory.
  virtual Memory allocate(std::size_t bytes) = 0;
  /// data[i] = kernels::input(kind, seed, i) rounded to `dtype`, for i < n.
  virtual void fill(void* data, roofline::Dtype dtype, kernels::InputKind kind, std::uint64_t seed,
                    std::int64_t n) = 0;
  /// Overwrites with 0xFF, which is NaN in every dtype.
  virtual void poison(void* data, std::size_t bytes) = 0;
  /// Waits for all enqueued work, then copies to the host.
  virtual void download(void* host, const void* data, std::size_t bytes) = 0;

  /// Host memory: pinned, it stays where it is and the device copies by itself. The default, and
  /// that of the next two, is for a device whose memory is the host's. Throws OutOfMemory.
  virtual Memory allocate_host(std::size_t bytes, bool pinned);
  /// Enqueues a copy between host and device memory, either way.
  virtual void copy(void* to, const void* from, std::size_t bytes);
  /// As timed(), for launches in which the host takes part, as it does in copying pageable memory:
  /// no graph can hold them, so the host's time is part of theirs.
  virtual Timed timed_with_host(const std::function<void(int copy)>& launch, int copies,
                                int launches) {
    return timed(launch, copies, launches);
  }

  /// Prepares at least `launches` launches that take the copies 0 ... copies - 1 in turn. Each run
  /// goes on with the copy after its predecessor's last, so that rotation never restarts on a warm
  /// one. Everything that `launch` uses has run once before.
  virtual Timed timed(const std::function<void(int copy)>& launch, int copies, int launches) = 0;

  virtual Telemetry telemetry() { return {}; }
  /// What a maintainer would ask for: driver, runtime and library versions, power limit, ECC ...
  virtual std::map<std::string, std::string> environment() { return {}; }
  /// What it does not tell of itself, in one line; empty for nothing.
  virtual std::string notice() const { return ""; }
  /// Seconds of a clock that never goes back: the wall's, or the fake device's own.
  virtual double now_s() const = 0;
};

/// Throws Unavailable where OpenMP is to start more threads than there are processors for them.
std::unique_ptr<Device> make_cpu_device();

/// Of the host's memory: what can be allocated without swapping.
double available_host_bytes();

/// Throws Unavailable where there is no such GPU, with driver and runtime versions and the cure.
std::unique_ptr<Device> make_cuda_device(int ordinal);

/// `choice`: auto | cuda | cuda:N | cpu. Auto is the first GPU, or the cpu where there is no NVIDIA
/// driver or CUDA_VISIBLE_DEVICES is set and empty. `notice`: that, or the device's own. Throws
/// std::invalid_argument for another spelling, Unavailable where it cannot be had.
std::unique_ptr<Device> make_device(const std::string& choice, std::string& notice);

}  // namespace bench
