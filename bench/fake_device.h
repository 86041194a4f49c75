// The tests' device: host memory, the loops of the cpu backend, and time as the test wants it.
#pragma once

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <utility>

#include "bench/device.h"

namespace bench {

class FakeDevice : public Device {
 public:
  explicit FakeDevice(roofline::DeviceFacts facts = {.backend = "fake", .name = "Fake"})
      : facts_(std::move(facts)) {}

  /// Seconds of launch number i since the device was made. May throw.
  std::function<double(int)> time_s = [](int) { return 1e-3; };
  double fill_s = 0;  // of each operand
  double memory_bytes = 1e9;
  Telemetry says;
  int launched = 0;
  bool lost = false;

  const roofline::DeviceFacts& facts() const override { return facts_; }
  std::span<const kernels::Kernel> kernels() const override { return kernels::cpu_kernels(); }
  kernels::Queue queue() const override { return {}; }
  double free_bytes() const override {
    if (lost) throw DeviceLost("the device is lost");
    return memory_bytes - *allocated_;
  }

  Memory allocate(std::size_t bytes) override {
    const auto size = static_cast<double>(bytes);
    if (size > free_bytes()) throw OutOfMemory(size, free_bytes());
    *allocated_ += size;
    const auto free = [size, allocated = allocated_](void* p) {
      *allocated -= size;
      std::free(p);
    };
    return {std::aligned_alloc(256, (bytes + 255) / 256 * 256), free};
  }
  void fill(void* data, roofline::Dtype dtype, kernels::InputKind kind, std::uint64_t seed,
            std::int64_t n) override {
    if (lost) throw DeviceLost("the device is lost");
    now_s_ += fill_s;
    kernels::cpu_fill(data, name(dtype).data(), kind, seed, n, queue());
  }
  void poison(void* data, std::size_t bytes) override { std::memset(data, 0xFF, bytes); }
  void download(void* host, const void* data, std::size_t bytes) override {
    std::memcpy(host, data, bytes);
  }

  /// Nothing is launched: verification has done that.
  Timed timed(const std::function<void(int)>& /*launch*/, int /*copies*/, int launches) override {
    return {launches, [this, launches] {
              double total_s = 0;
              for (int i = 0; i < launches; ++i) total_s += time_s(launched++);
              now_s_ += std::isfinite(total_s) && total_s > 0 ? total_s : 1e-3;
              return total_s;
            }};
  }
  Telemetry telemetry() override { return says; }
  double now_s() const override { return now_s_; }

 private:
  roofline::DeviceFacts facts_;
  std::shared_ptr<double> allocated_ = std::make_shared<double>(0);
  double now_s_ = 0;
};

}  // namespace bench
