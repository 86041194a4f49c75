// A GPU through the CUDA runtime: memory, inputs, and the one timer, a graph between two events.
#include "bench/cuda_device.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <chrono>
#include <map>
#include <utility>

#include "bench/build_info.h"
#include "bench/cublaslt_gemm.h"
#include "bench/nvml.h"
#include "bench/owner.h"
#include "kernels/clock.h"
#include "kernels/device_buffer.h"

namespace bench {
namespace {

using kernels::CudaError;

using Stream = Owner<CUstream_st, cudaStreamDestroy>;
using Event = Owner<CUevent_st, cudaEventDestroy>;
using Graph = Owner<CUgraph_st, cudaGraphDestroy>;
using GraphExec = Owner<CUgraphExec_st, cudaGraphExecDestroy>;

/// "13.0" of 13000.
std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

/// What the driver takes; 0 without one.
int driver_version() {
  int version = 0;
  return cudaDriverGetVersion(&version) == cudaSuccess ? version : 0;
}

int runtime_version() {
  int version = 0;
  CUDA_CHECK(cudaRuntimeGetVersion(&version));
  return version;
}

bool no_driver(cudaError_t error) {
  return error == cudaErrorStubLibrary ||
         (error == cudaErrorInsufficientDriver && driver_version() == 0);
}

std::string cure(cudaError_t error) {
  switch (error) {
    case cudaErrorInsufficientDriver:
    case cudaErrorStubLibrary:
      if (no_driver(error)) return "install the NVIDIA driver";
      [[fallthrough]];
    case cudaErrorUnsupportedPtxVersion:
      return fmt::format("update the driver, or build with CUDA {} or older",
                         version_text(driver_version()));
    case cudaErrorNoDevice:
      return "make a GPU visible (nvidia-smi -L, CUDA_VISIBLE_DEVICES, a container's --gpus)";
    case cudaErrorNoKernelImageForDevice:
      return "build for this GPU (CMAKE_CUDA_ARCHITECTURES)";
    case cudaErrorMemoryAllocation:
    case cudaErrorDevicesUnavailable:
      return "free the GPU from other processes (nvidia-smi shows them)";
    case cudaErrorSystemNotReady:
      return "start nvidia-fabricmanager";
    case cudaErrorSystemDriverMismatch:
      return "reboot: the loaded kernel module is not the installed driver's";
    default:
      return "look for NVRM or Xid lines in dmesg";
  }
}

/// `device` is whatever is known of it: "NVIDIA A100 of compute capability 8.0: ".
[[noreturn]] void unavailable(int ordinal, const std::string& device, cudaError_t error) {
  const int driver = driver_version();
  throw Unavailable(fmt::format(
      "--device=cuda:{}: {}{} ({}); {}, this program is built with CUDA {} for architectures {}; "
      "{}, or measure the CPU with --device=cpu",
      ordinal, device, cudaGetErrorName(error), cudaGetErrorString(error),
      driver == 0 ? "no driver answers" : "the driver takes CUDA up to " + version_text(driver),
      version_text(runtime_version()), kCudaArchitectures, cure(error)));
}

int attribute(cudaDeviceAttr which, int ordinal) {
  int value = 0;
  CUDA_CHECK(cudaDeviceGetAttribute(&value, which, ordinal));
  return value;
}

/// A clock or a width that the driver may not know and then gives as 0.
std::optional<double> known(double value) {
  return value > 0 ? std::optional(value) : std::nullopt;
}

/// "GPU-46414b45-..." as NVML and nvidia-smi spell it; a slice's begins with MIG.
std::string uuid_text(const cudaUUID_t& uuid, bool partition) {
  std::string text = partition ? "MIG" : "GPU";
  for (int i = 0; i < 16; ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(uuid.bytes[i]));
  }
  return text;
}

// The property struct has lost its clocks in CUDA 13; attributes have them in every version.
roofline::DeviceFacts facts_of(int ordinal) {
  cudaDeviceProp properties{};
  CUDA_CHECK(cudaGetDeviceProperties(&properties, ordinal));
  roofline::DeviceFacts facts;
  facts.backend = "cuda";
  facts.name = properties.name;
  facts.partition = facts.name.find("MIG ") != std::string::npos;
  facts.uuid = uuid_text(properties.uuid, facts.partition);
  facts.compute_major = properties.major;
  facts.compute_minor = properties.minor;
  facts.processors = properties.multiProcessorCount;
  facts.memory_bytes = static_cast<double>(properties.totalGlobalMem);
  facts.cache_bytes = attribute(cudaDevAttrL2CacheSize, ordinal);
  facts.bus_bits = known(attribute(cudaDevAttrGlobalMemoryBusWidth, ordinal));
  facts.memory_clock_mhz = known(1e-3 * attribute(cudaDevAttrMemoryClockRate, ordinal));
  facts.max_clock_mhz = known(1e-3 * attribute(cudaDevAttrClockRate, ordinal));
  return facts;
}

std::string pci_bus_id(int ordinal) {
  char id[32] = {};
  CUDA_CHECK(cudaDeviceGetPCIBusId(id, sizeof id, ordinal));
  return id;
}

/// What `enqueue` puts on the stream, as a graph that can be launched, whatever it throws.
GraphExec capture(cudaStream_t stream, const std::function<void()>& enqueue) {
  cudaGraph_t captured = nullptr;
  CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  try {
    enqueue();
  } catch (...) {
    (void)cudaStreamEndCapture(stream, &captured);
    (void)cudaGetLastError();
    Graph{captured}.reset();
    throw;
  }
  CUDA_CHECK(cudaStreamEndCapture(stream, &captured));
  const Graph graph(captured);
  cudaGraphExec_t executable = nullptr;
  CUDA_CHECK(cudaGraphInstantiate(&executable, graph.get(), 0));
  return GraphExec(executable);
}

Event make_event() {
  cudaEvent_t event = nullptr;
  CUDA_CHECK(cudaEventCreate(&event));
  return Event(event);
}

/// One run: its time, and what the SM clock did around it.
struct Run {
  double seconds;
  std::uint64_t cycles, nanoseconds;  // 0 where the stamps do not tell
};

/// [stamp, event, launches, event, stamp]: the two events around what is timed, and outside them
/// the stamps of the SM's clock.
class Stopwatch {
 public:
  explicit Stopwatch(const kernels::Queue& queue)
      : queue_(queue),
        stream_(static_cast<cudaStream_t>(queue.stream)),
        start_(make_event()),
        stop_(make_event()),
        stamps_(2) {
    CUDA_CHECK(cudaMemsetAsync(stamps_.data(), 0, 2 * sizeof(kernels::ClockStamp), stream_));
    kernels::launch_clock_stamp(stamps_.data(), queue);  // once before it is captured
  }

  /// Enqueues. `flags` as of cudaEventRecordWithFlags().
  void start(unsigned flags) const {
    kernels::launch_clock_stamp(stamps_.data(), queue_);
    CUDA_CHECK(cudaEventRecordWithFlags(start_.get(), stream_, flags));
  }
  void stop(unsigned flags) const {
    CUDA_CHECK(cudaEventRecordWithFlags(stop_.get(), stream_, flags));
    kernels::launch_clock_stamp(stamps_.data() + 1, queue_);
  }

  /// Waits for the run.
  Run read() const {
    kernels::ClockStamp stamps[2];
    CUDA_CHECK(
        cudaMemcpyAsync(stamps, stamps_.data(), sizeof stamps, cudaMemcpyDeviceToHost, stream_));
    CUDA_CHECK(cudaStreamSynchronize(stream_));
    float milliseconds = 0;
    CUDA_CHECK(cudaEventElapsedTime(&milliseconds, start_.get(), stop_.get()));
    const auto& [before, after] = stamps;
    // 0 would be an SM 0 that no stamp has met, as may be in a slice of a GPU.
    const bool told = before.cycles > 0 && after.cycles > before.cycles;
    return {1e-3 * static_cast<double>(milliseconds), told ? after.cycles - before.cycles : 0,
            told ? after.nanoseconds - before.nanoseconds : 0};
  }

 private:
  kernels::Queue queue_;
  cudaStream_t stream_;
  Event start_, stop_;
  kernels::DeviceBuffer<kernels::ClockStamp> stamps_;
};

/// Runs `calls`. Throws DeviceLost where what they throw has left the context dead, which shows in
/// that the next, innocent call fails too.
template <typename Calls>
auto survived(Calls calls) {
  try {
    return calls();
  } catch (const CudaError& error) {
    if (cudaDeviceSynchronize() == cudaSuccess) throw;
    throw DeviceLost(
        fmt::format("{}: every further CUDA call of this process fails", error.what()));
  }
}

class CudaDevice : public Device {
 public:
  CudaDevice(int ordinal, roofline::DeviceFacts facts)
      : facts_(std::move(facts)), pci_bus_id_(pci_bus_id(ordinal)), nvml_(pci_bus_id_) {
    CUDA_CHECK(cudaSetDevice(ordinal));
    // Where the GPU walks the host's page tables, the two are joined by NVLink-C2C, not by PCIe.
    if (attribute(cudaDevAttrPageableMemoryAccessUsesHostPageTables, ordinal) == 0) {
      facts_.pcie_generation = nvml_.pcie_generation();
      facts_.pcie_lanes = nvml_.pcie_lanes();
    }
    cudaStream_t stream = nullptr;
    CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    stream_.reset(stream);
    // Lines that another program marked as persisting would keep part of the L2 from ours. GPUs
    // before 8.0 and MIG slices have no such lines and say so.
    (void)cudaCtxResetPersistingL2Cache();
    (void)cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 0);
    (void)cudaGetLastError();
    // Fails here, before anything is timed, if this build has no code for this GPU.
    const kernels::DeviceBuffer<float> probe(4);
    kernels::cuda_fill(probe.data(), "fp32", kernels::InputKind::zeros, 0, 4, queue());
    CUDA_CHECK(cudaStreamSynchronize(stream));
  }

  const roofline::DeviceFacts& facts() const override { return facts_; }
  std::span<const kernels::Kernel> kernels() const override { return kernels::cuda_kernels(); }
  kernels::Queue queue() const override {
    return {.stream = stream_.get(), .processors = facts_.processors};
  }

  double free_bytes() const override {
    return survived([] {
      std::size_t free = 0, total = 0;
      CUDA_CHECK(cudaMemGetInfo(&free, &total));
      return static_cast<double>(free);
    });
  }

  Memory allocate(std::size_t bytes) override {
    return survived([&] {
      void* data = nullptr;
      try {
        CUDA_CHECK(cudaMalloc(&data, std::max<std::size_t>(bytes, 1)));
      } catch (const CudaError& error) {
        if (error.code != cudaErrorMemoryAllocation) throw;
        throw OutOfMemory(static_cast<double>(bytes), free_bytes());
      }
      return Memory(data, [](void* p) { (void)cudaFree(p); });
    });
  }

  void fill(void* data, roofline::Dtype dtype, kernels::InputKind kind, std::uint64_t seed,
            std::int64_t n) override {
    survived([&] { kernels::cuda_fill(data, name(dtype).data(), kind, seed, n, queue()); });
  }

  void poison(void* data, std::size_t bytes) override {
    survived([&] { CUDA_CHECK(cudaMemsetAsync(data, 0xFF, bytes, stream_.get())); });
  }

  void download(void* host, const void* data, std::size_t bytes) override {
    survived([&] {
      CUDA_CHECK(cudaMemcpyAsync(host, data, bytes, cudaMemcpyDeviceToHost, stream_.get()));
      CUDA_CHECK(cudaStreamSynchronize(stream_.get()));
    });
  }

  Memory allocate_host(std::size_t bytes, bool pinned) override {
    if (!pinned) return Device::allocate_host(bytes, false);
    return survived([&] {
      void* data = nullptr;
      try {
        CUDA_CHECK(cudaHostAlloc(&data, std::max<std::size_t>(bytes, 1), cudaHostAllocDefault));
      } catch (const CudaError& error) {
        if (error.code != cudaErrorMemoryAllocation) throw;
        throw OutOfMemory(static_cast<double>(bytes), available_host_bytes());
      }
      return Memory(data, [](void* p) { (void)cudaFreeHost(p); });
    });
  }

  void copy(void* to, const void* from, std::size_t bytes) override {
    survived(
        [&] { CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_.get())); });
  }

  /// One graph: the host only starts it, so that no launch waits for the host. Its events are
  /// external ones; events captured otherwise are dependencies and hold no time.
  Timed timed(const std::function<void(int)>& launch, int copies, int launches) override {
    return survived([&] {
      const int whole = whole_turns(launches, copies);
      const auto watch = std::make_shared<const Stopwatch>(queue());
      const auto graph = std::make_shared<const GraphExec>(capture(stream_.get(), [&] {
        watch->start(cudaEventRecordExternal);
        for (int i = 0; i < whole; ++i) launch(i % copies);
        watch->stop(cudaEventRecordExternal);
      }));
      return runs_of(whole, watch,
                     [this, graph] { CUDA_CHECK(cudaGraphLaunch(graph->get(), stream_.get())); });
    });
  }

  Timed timed_with_host(const std::function<void(int)>& launch, int copies, int launches) override {
    return survived([&] {
      const int whole = whole_turns(launches, copies);
      const auto watch = std::make_shared<const Stopwatch>(queue());
      return runs_of(whole, watch, [watch, launch, copies, whole] {
        watch->start(cudaEventRecordDefault);
        for (int i = 0; i < whole; ++i) launch(i % copies);
        watch->stop(cudaEventRecordDefault);
      });
    });
  }

  Telemetry telemetry() override {
    Telemetry t = nvml_.telemetry();
    // The mean over the runs since the last reading; NVML's is of a moment after them.
    if (const std::uint64_t ns = std::exchange(nanoseconds_, 0), cycles = std::exchange(cycles_, 0);
        ns > 0) {
      t.momentary_sm_clock_mhz = t.sm_clock_mhz;
      t.sm_clock_mhz = 1e3 * static_cast<double>(cycles) / static_cast<double>(ns);
    }
    // The energy counter is renewed some ten times a second: less of one load says nothing.
    constexpr double kLeast = 0.5;
    const double elapsed_s = now_s() - running_.since_s;
    const std::optional<double> energy = nvml_.energy_j();
    if (elapsed_s >= kLeast && energy && running_.energy_j) {
      t.power_w = (*energy - *running_.energy_j) / elapsed_s;
    }
    return t;
  }

  std::map<std::string, std::string> environment() override {
    std::map<std::string, std::string> all = nvml_.environment();
    all["cuda_driver"] = version_text(driver_version());
    all["cuda_runtime"] = version_text(runtime_version());
    all["pci_bus_id"] = pci_bus_id_;
    const CublasLtLibrary library = cublaslt_library();
    all["cublaslt"] = cublas_version_text(library.loaded);
    all["cublaslt_header"] = cublas_version_text(library.header);
    all["cublaslt_path"] = library.path;
    return all;
  }
  std::string notice() const override { return nvml_.notice(); }

  double now_s() const override {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

 private:
  /// What has been running, and since when, with the energy counter of that moment.
  struct Running {
    int load = 0;
    double since_s = 0;
    std::optional<double> energy_j;
  };

  /// Launches in whole turns, so that each run starts on the copy that has rested longest.
  static int whole_turns(int launches, int copies) {
    return (launches + copies - 1) / copies * copies;
  }

  /// Runs of what `enqueue` puts between the start and the stop of `watch`.
  Timed runs_of(int launches, std::shared_ptr<const Stopwatch> watch,
                std::function<void()> enqueue) {
    return {launches,
            [this, watch = std::move(watch), enqueue = std::move(enqueue), load = ++loads_] {
              if (load != running_.load) running_ = {load, now_s(), nvml_.energy_j()};
              const Run run = survived([&] {
                enqueue();
                return watch->read();
              });
              cycles_ += run.cycles;
              nanoseconds_ += run.nanoseconds;
              return run.seconds;
            }};
  }

  roofline::DeviceFacts facts_;
  std::string pci_bus_id_;
  Nvml nvml_;
  Stream stream_;
  int loads_ = 0;
  Running running_;
  std::uint64_t cycles_ = 0, nanoseconds_ = 0;  // of the runs since the last telemetry()
};

}  // namespace

std::optional<std::string> why_not_cuda() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  (void)cudaGetLastError();
  if (no_driver(error)) return "no NVIDIA driver";
  return std::nullopt;
}

std::unique_ptr<Device> make_cuda_device(int ordinal) {
  int count = 0;
  if (const cudaError_t error = cudaGetDeviceCount(&count); error != cudaSuccess) {
    unavailable(ordinal, "", error);
  }
  if (ordinal >= count) {
    throw Unavailable(fmt::format("--device=cuda:{}: the visible GPUs are cuda:0 ... cuda:{}",
                                  ordinal, count - 1));
  }
  if (const auto reason = cublaslt_mismatch(cublaslt_library())) throw Unavailable(*reason);
  std::string device;
  try {
    const roofline::DeviceFacts facts = facts_of(ordinal);
    device = fmt::format("{} of compute capability {}.{}: ", facts.name, facts.compute_major,
                         facts.compute_minor);
    return std::make_unique<CudaDevice>(ordinal, facts);
  } catch (const CudaError& error) {
    unavailable(ordinal, device, error.code);
  }
}

}  // namespace bench
