// What the cpu tells of its own runs.
#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <thread>

#include "bench/device.h"

namespace bench {
namespace {

TEST(CpuDevice, TellsTheRunsThatOtherWorkHeldUp) {
  const std::unique_ptr<Device> device = make_cpu_device();
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  for (std::size_t i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++i) {
    if (CPU_ISSET(i, &before)) CPU_SET(i, &one);
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);

  // Longer than any slice, so that both have some.
  const Timed spin = device->timed(
      [&](int) {
        for (const double end = device->now_s() + 0.1; device->now_s() < end;) {
        }
      },
      1, 1);
  spin.run_s();
  device->telemetry();
  std::atomic<bool> done = false;
  std::thread other([&] {
    while (!done) {
    }
  });
  for (int i = 0; i < 4; ++i) spin.run_s();
  done = true;
  other.join();
  const auto held_up = device->telemetry().held_up;
  sched_setaffinity(0, sizeof before, &before);
  if (!std::filesystem::exists("/proc/self/schedstat")) {
    GTEST_SKIP() << "this kernel does not count what threads wait";
  }
  EXPECT_EQ(held_up, 1) << "two threads on one processor";
  EXPECT_FALSE(device->telemetry().held_up) << "no run since";
  for (int i = 0; i < 2; ++i) spin.run_s();
  EXPECT_TRUE(device->telemetry().held_up) << "the other one's end hides nothing";
}

}  // namespace
}  // namespace bench
