// What environment.json holds, and by what a profiler is known.
#include "bench/environment.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
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

TEST(Environment, IsTextWhateverBytesAVariableHolds) {
  FakeDevice device;
  setenv("OMP_TEST", "caf\xe9/lib", 1);  // Latin-1
  const std::string text = to_text(environment(device, "", "bench --out=\xff", ""));
  unsetenv("OMP_TEST");
  const nlohmann::json back = nlohmann::json::parse(text);
  EXPECT_EQ(back["variables"]["OMP_TEST"], "caf\xef\xbf\xbd/lib");
  EXPECT_EQ(back["command_line"], "bench --out=\xef\xbf\xbd");
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

struct Limit {
  const char* name;
  std::map<std::string, std::string> files;
  std::optional<double> processors;
};

const std::string kV1 = "sys/fs/cgroup/cpu/";

const Limit kLimits[] = {
    {"no control groups", {}, std::nullopt},
    {"v2, none", {{"proc/self/cgroup", "0::/\n"}}, std::nullopt},
    {"v2, a container's own",
     {{"proc/self/cgroup", "0::/\n"}, {"sys/fs/cgroup/cpu.max", "150000 100000\n"}},
     1.5},
    {"v2, unlimited below, 2 of 4 and 8 processors above",
     {{"proc/self/cgroup", "0::/a/b/c\n"},
      {"sys/fs/cgroup/a/b/c/cpu.max", "max 100000\n"},
      {"sys/fs/cgroup/a/b/cpu.max", "200000 100000\n"},
      {"sys/fs/cgroup/a/cpu.max", "800000 100000\n"}},
     2},
    {"v1, half a processor of each 50 ms",
     {{"proc/self/cgroup", "3:cpuset:/x\n2:cpuacct,cpu:/a\n0::/\n"},
      {kV1 + "a/cpu.cfs_quota_us", "25000\n"},
      {kV1 + "a/cpu.cfs_period_us", "50000\n"},
      {kV1 + "cpu.cfs_quota_us", "-1\n"},
      {kV1 + "cpu.cfs_period_us", "100000\n"}},
     0.5},
    {"v1, a container under its host's path",
     {{"proc/self/cgroup", "1:cpu:/docker/0123\n"},
      {kV1 + "cpu.cfs_quota_us", "300000\n"},
      {kV1 + "cpu.cfs_period_us", "100000\n"}},
     3},
    {"v1, of another controller",
     {{"proc/self/cgroup", "1:cpuacct:/\n"},
      {kV1 + "cpu.cfs_quota_us", "300000\n"},
      {kV1 + "cpu.cfs_period_us", "100000\n"}},
     std::nullopt},
};

TEST(CpuLimit, IsTheLeastOfTheControlGroupsUpTheTree) {
  for (const Limit& row : kLimits) {
    const std::filesystem::path root =
        std::filesystem::path(testing::TempDir()) / ("cpu_limit_test" + std::to_string(getpid()));
    for (const auto& [file, text] : row.files) {
      std::filesystem::create_directories((root / file).parent_path());
      std::ofstream(root / file) << text;
    }
    EXPECT_EQ(cpu_limit(root), row.processors) << row.name;
    std::filesystem::remove_all(root);
  }
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
