#include "bench/nvml.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <vector>

namespace bench {
namespace {

// From nvml.h, which toolkits may lack.
constexpr int kSuccess = 0, kInsufficientSize = 7;
constexpr unsigned kSmClock = 1, kMemoryClock = 2, kGpuTemperature = 0;

template <typename Function>
Function* find(void* library, const char* name) {
  return library == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(library, name));
}

}  // namespace

std::string clock_event_words(std::uint64_t mask) {
  // nvmlClocksEventReasons, from bit 0 on.
  constexpr std::string_view kWords[] = {"",  // idle
                                         "applications_clocks",
                                         "sw_power_cap",
                                         "hw_slowdown",
                                         "sync_boost",
                                         "sw_thermal",
                                         "hw_thermal",
                                         "hw_power_brake",
                                         "display_clocks"};
  std::vector<std::string> words;
  for (std::uint64_t bit = 1; bit < 64; ++bit) {
    if ((mask >> bit & 1) == 0) continue;
    words.push_back(bit < std::size(kWords) ? std::string(kWords[bit])
                                            : fmt::format("bit_{}", bit));
  }
  return fmt::format("{}", fmt::join(words, "|"));
}

template <typename... Arguments>
bool Nvml::call(const char* function, Arguments... arguments) const {
  auto* const f = find<int(void*, Arguments...)>(library_, function);
  return device_ != nullptr && f != nullptr && f(device_, arguments...) == kSuccess;
}

template <typename Value, typename... Keys>
std::optional<Value> Nvml::value(const char* function, Keys... keys) const {
  Value v{};
  if (!call(function, keys..., &v)) return std::nullopt;
  return v;
}

std::string Nvml::error(int code) const {
  auto* const text = find<const char*(int)>(library_, "nvmlErrorString");
  return text == nullptr ? fmt::format("error {}", code) : text(code);
}

Nvml::Nvml(const std::string& pci_bus_id, const char* library)
    : library_(dlopen(library, RTLD_NOW | RTLD_LOCAL)) {
  constexpr std::string_view kAll = "no clocks, power, temperature, throttle reasons";
  auto* const init = find<int()>(library_, "nvmlInit_v2");
  auto* const handle = find<int(const char*, void**)>(library_, "nvmlDeviceGetHandleByPciBusId_v2");
  if (init == nullptr || handle == nullptr) {
    notice_ = fmt::format("NVML: {} cannot be used: {}", library, kAll);
    return;
  }
  if (const int code = init(); code != kSuccess) {
    notice_ = fmt::format("NVML does not start ({}): {}", error(code), kAll);
    return;
  }
  initialised_ = true;
  if (const int code = handle(pci_bus_id.c_str(), &device_); code != kSuccess) {
    device_ = nullptr;
    notice_ = fmt::format("NVML does not open GPU {} ({}): {}", pci_bus_id, error(code), kAll);
    return;
  }

  // With no room to list them in, the count is all that comes back.
  using Count = int(void*, unsigned*, void*);
  if (auto* const processes = find<Count>(library_, "nvmlDeviceGetComputeRunningProcesses_v3")) {
    unsigned count = 0;
    const int code = processes(device_, &count, nullptr);
    if (code == kSuccess || code == kInsufficientSize) other_processes_ = count;
  }

  const Telemetry now = telemetry();
  std::vector<std::string_view> missing;
  if (!now.sm_clock_mhz) missing.push_back("SM clock");
  if (!now.memory_clock_mhz) missing.push_back("memory clock");
  if (!now.temperature_c) missing.push_back("temperature");
  if (!clock_events()) missing.push_back("throttle reasons");
  if (!energy_j()) missing.push_back("power");
  if (!missing.empty()) notice_ = fmt::format("NVML gives no {}", fmt::join(missing, ", "));
}

Nvml::~Nvml() {
  if (initialised_) {
    if (auto* const shutdown = find<int()>(library_, "nvmlShutdown")) shutdown();
  }
  if (library_ != nullptr) dlclose(library_);
}

std::optional<std::uint64_t> Nvml::clock_events() const {
  auto mask = value<unsigned long long>("nvmlDeviceGetCurrentClocksEventReasons");
  // The name before driver 535.
  if (!mask) mask = value<unsigned long long>("nvmlDeviceGetCurrentClocksThrottleReasons");
  return mask;
}

Telemetry Nvml::telemetry() const {
  Telemetry t;
  t.sm_clock_mhz = value<unsigned>("nvmlDeviceGetClockInfo", kSmClock);
  t.memory_clock_mhz = value<unsigned>("nvmlDeviceGetClockInfo", kMemoryClock);
  t.temperature_c = value<unsigned>("nvmlDeviceGetTemperature", kGpuTemperature);
  t.throttle_reasons = clock_event_words(clock_events().value_or(0));
  return t;
}

std::optional<double> Nvml::energy_j() const {
  const auto millijoules = value<unsigned long long>("nvmlDeviceGetTotalEnergyConsumption");
  if (!millijoules) return std::nullopt;
  return 1e-3 * static_cast<double>(*millijoules);
}

std::optional<int> Nvml::pcie_generation() const {
  return value<unsigned>("nvmlDeviceGetMaxPcieLinkGeneration");
}

std::optional<int> Nvml::pcie_lanes() const {
  return value<unsigned>("nvmlDeviceGetMaxPcieLinkWidth");
}

std::map<std::string, std::string> Nvml::environment() const {
  std::map<std::string, std::string> all;
  char driver[96] = {};
  auto* const version = find<int(char*, unsigned)>(library_, "nvmlSystemGetDriverVersion");
  if (initialised_ && version != nullptr && version(driver, sizeof driver) == kSuccess) {
    all["driver"] = driver;
  }
  if (const auto milliwatts = value<unsigned>("nvmlDeviceGetPowerManagementLimit")) {
    all["power_limit_w"] = fmt::format("{}", 1e-3 * *milliwatts);
  }
  const auto on_or_off = [](unsigned mode) { return mode == 0 ? "off" : "on"; };
  if (const auto mode = value<unsigned>("nvmlDeviceGetPersistenceMode")) {
    all["persistence_mode"] = on_or_off(*mode);
  }
  // Narrower or slower under load than the device's pcie_ facts: a badly seated card.
  if (const auto generation = value<unsigned>("nvmlDeviceGetCurrPcieLinkGeneration")) {
    all["pcie_generation_now"] = fmt::format("{}", *generation);
  }
  if (const auto lanes = value<unsigned>("nvmlDeviceGetCurrPcieLinkWidth")) {
    all["pcie_lanes_now"] = fmt::format("{}", *lanes);
  }
  unsigned current = 0, pending = 0;
  if (call("nvmlDeviceGetEccMode", &current, &pending)) all["ecc"] = on_or_off(current);
  if (call("nvmlDeviceGetMigMode", &current, &pending)) all["mig_mode"] = on_or_off(current);
  if (other_processes_) all["other_processes"] = fmt::format("{}", *other_processes_);
  return all;
}

}  // namespace bench
