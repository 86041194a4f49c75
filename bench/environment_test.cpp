// What environment.json holds, and by what a profiler is known.
#include "bench/environment.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "bench/fake_device.h"

namespace bench {
namespace {

TEST(Environment, HasEveryKeyAndNullForWhatIsHidden) {
  FakeDevice device;
  const nlohmann::json e = environment(device, "id", "bench --op=relu", "running");
  EXPECT_EQ(e["run_id"], "id");
  EXPECT_EQ(e["command_line"], "bench --op=relu");
  EXPECT_TRUE(e["device"]["memory_bytes"].is_null()) << "the fake device says 0: unknown";
  for (const char* key : {"name", "system", "machine", "affinity", "load_average", "hypervisor",
                          "vendor", "product", "cpu_limit", "governor", "transparent_huge_pages"}) {
    EXPECT_TRUE(e["host"].contains(key)) << key;
  }
}

TEST(Environment, HasWhatTheDevicesConversionsMakeOfEdges) {
  FakeDevice device;
  const nlohmann::json found = environment(device, "", "", "")["conversions"];
  EXPECT_EQ(found["fp16(1e-8)"], 0);                      // half of 2^-24 = 5.96e-8 is more
  EXPECT_EQ(found["bf16(1e-8)"], 1.0011717677116394e-8);  // 1.34375 x 2^-27
  EXPECT_EQ(found["fp8_e4m3(1e6)"], 448);
  EXPECT_EQ(found["fp8_e5m2(1e6)"], 57344);
  device.lost = true;
  EXPECT_TRUE(environment(device, "", "", "")["conversions"].is_null());
}

TEST(Environment, HasTheVariablesThatChangeAMeasurement) {
  FakeDevice device;
  setenv("NVIDIA_TF32_OVERRIDE", "0", 1);
  EXPECT_EQ(environment(device, "", "", "")["variables"]["NVIDIA_TF32_OVERRIDE"], "0");
  unsetenv("NVIDIA_TF32_OVERRIDE");
}

TEST(Environment, NamesTheLibrariesOfACpu) {
  const std::unique_ptr<Device> device = make_cpu_device();
  const nlohmann::json e = environment(*device, "", "", "")["device"];
  EXPECT_GE(std::stoi(e["openmp"].get<std::string>()), 201511) << "4.5 is of November 2015";
  EXPECT_NE(e["openmp_path"].get<std::string>().find("omp"), std::string::npos) << e;
#ifdef ROOFLINE_HAS_ONEDNN
  EXPECT_NE(e["onednn"].get<std::string>().find('.'), std::string::npos) << e;
#endif
}

struct Variable {
  const char *name, *value;
  bool profiler;
};

const Variable kVariables[] = {
    {"NSYS_PROFILING_SESSION_ID", "1", true},
    {"CUDA_INJECTION64_PATH", "/opt/libToolsInjection64.so", true},
    {"NV_COMPUTE_PROFILER_PERFWORKS_DIR", "/opt/ncu", true},
    {"LD_PRELOAD", "/opt/nsight/libTreeLauncherTargetInjection.so", true},
    {"LD_PRELOAD", "libjemalloc.so.2", false},
    {"NV_CUDA_LIB_VERSION", "12.4.1-1", false},
};

TEST(Profiler, IsKnownByItsVariable) {
  const char* const preload = std::getenv("LD_PRELOAD");
  const std::string before = preload == nullptr ? "" : preload;
  for (const Variable& v : kVariables) {
    setenv(v.name, v.value, 1);
    EXPECT_EQ(profiler_variable(), v.profiler ? v.name : "") << v.name << '=' << v.value;
    unsetenv(v.name);
  }
  if (!before.empty()) setenv("LD_PRELOAD", before.c_str(), 1);
}

}  // namespace
}  // namespace bench
