// Stands in for libnvidia-ml.so.1 in the test of bench/nvml.h, built once for each FLAVOUR of what
// machines have: whole; partial (WSL: no energy counter, no clock events); denied (a container may
// look at nothing); stub (the toolkit's: nothing but refusals).
#include <cstdio>

#define WHOLE 0
#define PARTIAL 1
#define DENIED 2
#define STUB 3

namespace {
constexpr int kSuccess = 0, kNotSupported = 3, kNoPermission = 4, kInsufficientSize = 7,
              kDriverNotLoaded = 9;
constexpr int kReading = FLAVOUR == DENIED ? kNoPermission : kSuccess;

template <typename Value>
int read(Value* out, Value value) {
  *out = value;
  return kReading;
}
}  // namespace

extern "C" {
int nvmlInit_v2() { return FLAVOUR == STUB ? kDriverNotLoaded : kSuccess; }
int nvmlShutdown() { return kSuccess; }
const char* nvmlErrorString(int code) {
  return code == kDriverNotLoaded ? "Driver Not Loaded" : "Insufficient Permissions";
}
int nvmlSystemGetDriverVersion(char* text, unsigned size) {
  std::snprintf(text, size, "580.65.06");
  return kSuccess;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* id, void** device) {
  *device = const_cast<char*>(id);
  return kSuccess;
}
int nvmlDeviceGetClockInfo(void*, unsigned clock, unsigned* mhz) {
  return read(mhz, clock == 1 ? 1755U : 2619U);  // SM, memory
}
int nvmlDeviceGetTemperature(void*, unsigned, unsigned* celsius) { return read(celsius, 61U); }
int nvmlDeviceGetPowerManagementLimit(void*, unsigned* milliwatts) {
  return read(milliwatts, 700'000U);
}
int nvmlDeviceGetPersistenceMode(void*, unsigned* mode) { return read(mode, 1U); }
int nvmlDeviceGetEccMode(void*, unsigned* current, unsigned* pending) {
  *pending = 0;
  return read(current, 1U);
}
int nvmlDeviceGetMaxPcieLinkGeneration(void*, unsigned* generation) { return read(generation, 5U); }
int nvmlDeviceGetMaxPcieLinkWidth(void*, unsigned* lanes) { return read(lanes, 16U); }
int nvmlDeviceGetCurrPcieLinkGeneration(void*, unsigned* generation) {
  return read(generation, 1U);  // idle
}
int nvmlDeviceGetCurrPcieLinkWidth(void*, unsigned* lanes) { return read(lanes, 16U); }
int nvmlDeviceGetMigMode(void*, unsigned*, unsigned*) { return kNotSupported; }
int nvmlDeviceGetComputeRunningProcesses_v3(void*, unsigned* count, void* infos) {
  if (FLAVOUR == DENIED) return kNoPermission;
  const bool fits = infos != nullptr && *count >= 2;
  *count = 2;
  return fits ? kSuccess : kInsufficientSize;
}
#if FLAVOUR != PARTIAL
int nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long* millijoules) {
  return read(millijoules, 1'500ULL);
}
// The name before driver 535.
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* mask) {
  return read(mask, 0x45ULL);  // idle, software power cap, hardware thermal slowdown
}
#endif
}
