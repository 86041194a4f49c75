#include "bench/environment.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "bench/build_info.h"
#include "bench/run_folder.h"
#include "roofline/dtype.h"
#include "roofline/record.h"

namespace bench {
namespace {

using nlohmann::json;
using roofline::Dtype;

/// Variables that change what is measured, or where.
constexpr std::string_view kPrefixes[] = {"CUDA_",    "CUBLAS", "NVIDIA_",        "OMP_",
                                          "GOMP_",    "KMP_",   "DNNL_",          "ONEDNN_",
                                          "OPENBLAS", "MKL_",   "GLIBC_TUNABLES", "SLURM_JOB",
                                          "LD_",      "NSYS_",  "NV_COMPUTE_",    "NV_TPS_"};

/// Variables that Nsight Systems and Nsight Compute give to what they watch. (NV_ alone is no sign:
/// CUDA's container images set NV_CUDA_LIB_VERSION and more.)
constexpr std::string_view kProfilers[] = {"NSYS_", "CUDA_INJECTION64_PATH", "NV_COMPUTE_",
                                           "NV_TPS_"};
/// Parts of the names of libraries that profilers preload.
constexpr std::string_view kPreloaded[] = {"nsys",         "nsight",    "Nsight",
                                           "TreeLauncher", "injection", "Injection",
                                           "vtune",        "rocprof",   "valgrind"};

/// The first line of a file, or null where there is none to read: what a container or a virtual
/// machine hides.
json first_line(const char* path) {
  std::ifstream in(path);
  std::string line;
  return std::getline(in, line) ? json(line) : json(nullptr);
}

/// Whether a hypervisor runs this machine, as the CPU says; null where it does not say.
json hypervisor() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("flags")) return line.find(" hypervisor") != std::string::npos;
  }
  return nullptr;
}

json load_average() {
  double load = 0;
  return getloadavg(&load, 1) == 1 ? json(load) : json(nullptr);
}

json relevant_variables() {
  json found = json::object();
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    for (const std::string_view prefix : kPrefixes) {
      if (!text.starts_with(prefix)) continue;
      const std::size_t equals = text.find('=');
      found[std::string(text.substr(0, equals))] = std::string(text.substr(equals + 1));
    }
  }
  return found;
}

/// The processors this process may run on, as "0-3,8".
std::string affinity() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return "unknown";
  std::string text;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (!CPU_ISSET(i, &set)) continue;
    int last = i;
    while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &set)) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ",", i);
    if (last > i) text += fmt::format("-{}", last);
    i = last;
  }
  return text;
}

/// What this device's own conversions make of values at the edges of a storage type, as the fill of
/// its inputs uses them: instructions on a GPU that has them, else software; the loops on a cpu.
/// Null for a device that is lost.
json conversions(Device& device) {
  struct Conversion {
    const char* name;
    Dtype dtype;
    std::size_t edge;
  };
  constexpr Conversion kConversions[] = {{"fp16(1e-8)", Dtype::fp16, 0},
                                         {"bf16(1e-8)", Dtype::bf16, 0},
                                         {"fp8_e4m3(1e6)", Dtype::fp8_e4m3, 1},
                                         {"fp8_e5m2(1e6)", Dtype::fp8_e5m2, 1}};
  constexpr std::size_t kBytes = 16;
  json found = json::object();
  try {
    const Memory memory = device.allocate(kBytes);
    for (const Conversion& c : kConversions) {
      const auto size = static_cast<std::size_t>(bytes_per_element(c.dtype));
      device.fill(memory.get(), c.dtype, kernels::InputKind::edges, 0,
                  static_cast<std::int64_t>(kBytes / size));
      std::array<unsigned char, kBytes> bytes{};
      device.download(bytes.data(), memory.get(), kBytes);
      std::uint64_t code = 0;
      std::memcpy(&code, bytes.data() + c.edge * size, size);  // little-endian, as every GPU's host
      found[c.name] = roofline::decode(c.dtype, code);
    }
  } catch (const std::exception&) {
    return nullptr;
  }
  return found;
}

/// What the kernel lets a control group of either version use of each period, in processors;
/// nothing where it sets no limit ("max", or -1).
std::optional<double> quota(const std::filesystem::path& group) {
  std::ifstream v2(group / "cpu.max");
  std::ifstream v1(group / "cpu.cfs_quota_us"), v1_period(group / "cpu.cfs_period_us");
  double quota_us = 0, period_us = 0;
  const bool limited = (v2 >> quota_us >> period_us) || (v1 >> quota_us && v1_period >> period_us);
  return limited && quota_us > 0 ? std::optional(quota_us / period_us) : std::nullopt;
}

json unless_zero(double value) { return value > 0 ? json(value) : json(nullptr); }
json or_null(const auto& value) { return value ? json(*value) : json(nullptr); }

}  // namespace

std::optional<double> cpu_limit(const std::filesystem::path& root) {
  std::optional<double> least;
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // number:controllers:path; 0::path of v2
    const std::size_t controllers = line.find(':') + 1, path = line.find(':', controllers) + 1;
    const std::string list = ',' + line.substr(controllers, path - controllers - 1) + ',';
    if (list != ",," && list.find(",cpu,") == std::string::npos) continue;
    const std::filesystem::path top = root / (list == ",," ? "sys/fs/cgroup" : "sys/fs/cgroup/cpu");
    // In a container the path may be the host's, and its own group the top: what is not there has
    // no limit.
    for (auto group = top / std::filesystem::path(line.substr(path)).relative_path();;
         group = group.parent_path()) {
      if (const auto limit = quota(group)) least = std::min(*limit, least.value_or(*limit));
      if (group == top) break;
    }
  }
  return least;
}

json environment(Device& device, const std::string& run_id, const std::string& command_line,
                 const std::string& outcome) {
  const roofline::DeviceFacts& facts = device.facts();
  utsname system = {};
  uname(&system);
  json device_json = {{"backend", facts.backend},
                      {"name", facts.name},
                      {"uuid", facts.uuid},
                      {"processors", facts.processors},
                      {"memory_bytes", unless_zero(facts.memory_bytes)},
                      {"cache_bytes", unless_zero(facts.cache_bytes)},
                      {"bus_bits", or_null(facts.bus_bits)},
                      {"memory_clock_mhz", or_null(facts.memory_clock_mhz)},
                      {"max_clock_mhz", or_null(facts.max_clock_mhz)},
                      {"pcie_generation", or_null(facts.pcie_generation)},
                      {"pcie_lanes", or_null(facts.pcie_lanes)},
                      {"partition", facts.partition}};
  if (facts.backend == "cuda") {
    device_json["compute_capability"] =
        fmt::format("{}.{}", facts.compute_major, facts.compute_minor);
  }
  for (const auto& [key, value] : device.environment()) device_json[key] = value;
  return {{"schema", roofline::kSchema},
          {"run_id", run_id},
          {"written_utc", timestamp_utc()},
          {"outcome", outcome},
          {"command_line", command_line},
          {"device", device_json},
          {"conversions", conversions(device)},
          {"host",
           {{"name", system.nodename},
            {"system", fmt::format("{} {}", system.sysname, system.release)},
            {"machine", system.machine},
            {"affinity", affinity()},
            {"load_average", load_average()},
            {"hypervisor", hypervisor()},
            {"vendor", first_line("/sys/class/dmi/id/sys_vendor")},
            {"product", first_line("/sys/class/dmi/id/product_name")},
            {"cpu_limit", or_null(cpu_limit("/"))},
            {"governor", first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")},
            {"transparent_huge_pages", first_line("/sys/kernel/mm/transparent_hugepage/enabled")}}},
          {"build",
           {{"version", ROOFLINE_VERSION},
            {"commit", kCommit},
            {"compiler", kCompiler},
            {"flags", kFlags},
            {"build_type", kBuildType},
            {"cuda_compiler", kCudaCompiler},
            {"cuda_flags", kCudaFlags},
            {"cuda_architectures", kCudaArchitectures}}},
          {"variables", relevant_variables()}};
}

std::string to_text(const json& environment) {
  return environment.dump(2, ' ', /*ensure_ascii=*/false, json::error_handler_t::replace);
}

std::string profiler_variable() {
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view variable = text.substr(0, text.find('='));
    const auto starts = [&](std::string_view prefix) { return variable.starts_with(prefix); };
    const auto holds = [&](std::string_view part) { return text.find(part) != text.npos; };
    if (std::ranges::any_of(kProfilers, starts) ||
        (variable == "LD_PRELOAD" && std::ranges::any_of(kPreloaded, holds))) {
      return std::string(variable);
    }
  }
  return "";
}

}  // namespace bench
