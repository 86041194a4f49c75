// Readings of a whole, a partial, a denied, a stub and an absent NVML: what is unknown stays empty.
#include "bench/nvml.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace bench {
namespace {

using Environment = std::map<std::string, std::string>;

constexpr const char* kGpu = "00000000:1B:00.0";

TEST(ClockEvents, AreSpeltInWords) {
  EXPECT_EQ(clock_event_words(0x0), "");
  EXPECT_EQ(clock_event_words(0x1), "") << "idle";
  EXPECT_EQ(clock_event_words(0x4), "sw_power_cap");
  EXPECT_EQ(clock_event_words(0x20 | 0x8), "hw_slowdown|sw_thermal");
  EXPECT_EQ(clock_event_words(0x1fe),
            "applications_clocks|sw_power_cap|hw_slowdown|sync_boost|sw_thermal|hw_thermal|"
            "hw_power_brake|display_clocks");
  EXPECT_EQ(clock_event_words(0x200), "bit_9") << "a reason newer than this program";
}

TEST(Nvml, ReadsAllThatAWholeLibraryHas) {
  const Nvml nvml(kGpu, FAKE_NVML_WHOLE);
  EXPECT_EQ(nvml.notice(), "");
  const Telemetry t = nvml.telemetry();
  EXPECT_EQ(t.sm_clock_mhz, 1755);
  EXPECT_EQ(t.memory_clock_mhz, 2619);
  EXPECT_EQ(t.temperature_c, 61);
  EXPECT_EQ(t.power_w, std::nullopt);
  EXPECT_EQ(t.throttle_reasons, "sw_power_cap|hw_thermal");
  EXPECT_EQ(nvml.energy_j(), 1.5);
  EXPECT_EQ(nvml.pcie_generation(), 5);
  EXPECT_EQ(nvml.pcie_lanes(), 16);
  EXPECT_EQ(nvml.environment(), (Environment{{"driver", "580.65.06"},
                                             {"power_limit_w", "700"},
                                             {"persistence_mode", "on"},
                                             {"ecc", "on"},
                                             {"pcie_generation_now", "1"},
                                             {"pcie_lanes_now", "16"},
                                             {"other_processes", "2"}}));
}

TEST(Nvml, LeavesEmptyWhatAPartialLibraryLacks) {
  const Nvml nvml(kGpu, FAKE_NVML_PARTIAL);
  EXPECT_EQ(nvml.notice(), "NVML gives no throttle reasons, power");
  EXPECT_EQ(nvml.telemetry().sm_clock_mhz, 1755);
  EXPECT_EQ(nvml.telemetry().throttle_reasons, "");
  EXPECT_EQ(nvml.energy_j(), std::nullopt);
}

TEST(Nvml, LeavesEmptyWhatItMayNotSee) {
  const Nvml nvml(kGpu, FAKE_NVML_DENIED);
  EXPECT_EQ(nvml.notice(),
            "NVML gives no SM clock, memory clock, temperature, throttle reasons, power");
  EXPECT_EQ(nvml.telemetry().sm_clock_mhz, std::nullopt);
  EXPECT_EQ(nvml.pcie_generation(), std::nullopt);
  EXPECT_EQ(nvml.environment(), (Environment{{"driver", "580.65.06"}}));
}

TEST(Nvml, SaysOnceThatAStubDoesNotStart) {
  const Nvml nvml(kGpu, FAKE_NVML_STUB);
  EXPECT_EQ(nvml.notice(),
            "NVML does not start (Driver Not Loaded): no clocks, power, temperature, throttle "
            "reasons");
  EXPECT_EQ(nvml.telemetry().temperature_c, std::nullopt);
  EXPECT_EQ(nvml.environment(), Environment{});
}

TEST(Nvml, SaysOnceThatThereIsNone) {
  const Nvml nvml(kGpu, "libnone.so.1");
  EXPECT_EQ(nvml.notice(),
            "NVML: libnone.so.1 cannot be used: no clocks, power, temperature, throttle reasons");
  EXPECT_EQ(nvml.telemetry().sm_clock_mhz, std::nullopt);
  EXPECT_EQ(nvml.energy_j(), std::nullopt);
}

}  // namespace
}  // namespace bench
