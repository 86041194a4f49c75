// Which policy comes first on a GPU that somebody has tuned, by compute capability. Elsewhere the
// first of a kernel's policies, or the one that suits the shape, is the default, which is a guess;
// bench says so in the row's note.
#pragma once

#include <span>
#include <string_view>

namespace kernels {

/// One kernel's fastest policy. `dtype`: empty for all. `gain`: the bandwidth over that of the
/// kernel's first policy.
struct Tuned {
  std::string_view op, dtype, policy;
  double gain;
};

/// What was measured on one device, for all of its compute capability.
struct TunedDevice {
  int major, minor;
  std::string_view device, date;
  std::span<const Tuned> policies;
};

// 1 GiB moved, cold. Medians of a sweep by a program that is not kept, which called these launchers
// (copy: a twin of its kernel), over those of the first policies in the run that
// results/reference/nvidia-h200 keeps, on the same card, minutes apart: not paired, and to be made
// again by --candidates=all. A block of 128 threads that move 16 bytes each mixes reads and writes
// best; the arithmetic of an FP8 GeLU wants more of a thread. ReLU was swept in fp32 and E4M3
// (1.045), dot in all types (to 1.005).
inline constexpr Tuned kTunedH200[] = {
    {"copy", "", "t128v1", 1.046},         {"relu", "", "t128v1", 1.039},
    {"gelu", "fp32", "t128v1", 1.039},     {"gelu", "fp16", "t128v1", 1.033},
    {"gelu", "bf16", "t128v1", 1.033},     {"gelu", "fp8_e4m3", "t512v4", 1.011},
    {"gelu", "fp8_e5m2", "t512v4", 1.015}, {"dot", "", "t512v4g2-once", 1.002},
};

inline constexpr TunedDevice kTunedDevices[] = {
    {9, 0, "NVIDIA H200", "2026-11-29", kTunedH200},
};

/// Null where nobody has tuned a device of that compute capability.
constexpr const TunedDevice* tuned_for(int major, int minor) {
  for (const TunedDevice& d : kTunedDevices) {
    if (d.major == major && d.minor == minor) return &d;
  }
  return nullptr;
}

/// Empty where the kernel's default is the best known, or nobody has looked.
constexpr std::string_view tuned_policy(const TunedDevice& device, std::string_view op,
                                        std::string_view dtype) {
  for (const Tuned& t : device.policies) {
    if (t.op == op && (t.dtype.empty() || t.dtype == dtype)) return t.policy;
  }
  return {};
}

}  // namespace kernels
