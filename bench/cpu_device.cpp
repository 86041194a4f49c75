// The CPU as a device: memory, OpenMP loops, the steady clock.
#include <dlfcn.h>
#include <fmt/format.h>
#include <omp.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "bench/device.h"
#include "bench/onednn_gemm.h"

namespace bench {
namespace {

/// The value of the first "key : value" line of a file like /proc/cpuinfo; empty without one.
std::string value_in(const char* path, const std::string& key) {
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    const std::size_t colon = line.find(':');
    if (line.starts_with(key) && colon != std::string::npos) {
      return line.substr(std::min(line.find_first_not_of(" \t", colon + 1), line.size()));
    }
  }
  return "";
}

std::string processor_name() {
  const std::string name = value_in("/proc/cpuinfo", "model name");
  return name.empty() ? "cpu" : name;  // aarch64 kernels print no name
}

/// The file that holds a function, as the dynamic linker found it.
std::string library_of(const char* function) {
  Dl_info info{};
  return dladdr(dlsym(RTLD_DEFAULT, function), &info) != 0 ? info.dli_fname : "unknown";
}

/// What the threads of this process wait for a processor while they are ready to run. It is read
/// after each sample: with 128 threads in 80 us, in 390 where each time their files are opened
/// anew.
class Waiting {
 public:
  /// Seconds until now, of all threads together. Nothing where the kernel does not count them
  /// (CONFIG_SCHED_INFO), or where one of them has just ended.
  std::optional<double> total_s() {
    std::error_code no_proc;
    const std::uintmax_t links = std::filesystem::hard_link_count(kTasks, no_proc);  // threads + 2
    if (links != links_) {
      files_.clear();
      for (const auto& task : std::filesystem::directory_iterator(kTasks, no_proc)) {
        files_.emplace_back(task.path() / "schedstat");
      }
      links_ = links;
    }
    std::optional<double> sum;
    for (std::ifstream& file : files_) {
      std::int64_t ran_ns = 0, waited_ns = 0;
      if (!(file.seekg(0) >> ran_ns >> waited_ns)) {
        files_.clear();  // where they are too many to be open, too: others need some
        links_ = 0;
        return std::nullopt;
      }
      sum = sum.value_or(0) + static_cast<double>(waited_ns) * 1e-9;
    }
    return sum;
  }

 private:
  static constexpr const char* kTasks = "/proc/self/task";
  std::uintmax_t links_ = 0;  // of kTasks, when the files were opened
  std::vector<std::ifstream> files_;
};

double last_level_cache_bytes() {
  for (const int level : {_SC_LEVEL4_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL2_CACHE_SIZE}) {
    if (const long bytes = sysconf(level); bytes > 0) return static_cast<double>(bytes);
  }
  return 32.0 * (1 << 20);  // unknown: take a large one, so that cold rows stay cold
}

/// One range of addresses, from which blocks are cut, each at the lowest place that takes it: a
/// group finds the pages that an earlier one has touched. Fresh ones took 4 s of CPU time a GiB on
/// a virtual machine, more than the sampling of a row takes.
class Arena {
 public:
  static constexpr std::size_t kUnit = 2 << 20;  // a huge page

  explicit Arena(double bytes) : bytes_(static_cast<std::size_t>(bytes) / kUnit * kUnit) {
    constexpr int kReserve = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void* data = MAP_FAILED;
    for (;; bytes_ /= 2) {  // where address space is limited or no memory may be overcommitted
      data = mmap(nullptr, bytes_ + kUnit, PROT_READ | PROT_WRITE, kReserve, -1, 0);
      if (data != MAP_FAILED) break;
      if (bytes_ < kUnit) throw std::bad_alloc();
    }
    reserved_ = data;
    const auto address = reinterpret_cast<std::uintptr_t>(data);
    first_ = static_cast<std::byte*>(data) + (kUnit - address % kUnit) % kUnit;
    // Where they are large: a stream over 4 KiB pages measures page walks, too. A wish; refused,
    // nothing is lost.
    (void)madvise(first_, bytes_, MADV_HUGEPAGE);
  }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena() { munmap(reserved_, bytes_ + kUnit); }

  /// `bytes`: a multiple of kUnit. Null where no gap is large enough.
  void* take(std::size_t bytes) {
    std::size_t at = 0;
    for (const auto& [begin, size] : taken_) {
      if (begin - at >= bytes) break;
      at = begin + size;
    }
    if (bytes > bytes_ - at) return nullptr;
    taken_.emplace(at, bytes);
    touched_ = std::max(touched_, at + bytes);
    return first_ + at;
  }
  void give(void* block) {
    taken_.erase(static_cast<std::size_t>(static_cast<std::byte*>(block) - first_));
  }

  /// Of what was taken once and is free now: the system no longer counts it as available.
  double idle_bytes() const {
    double idle = static_cast<double>(touched_);
    for (const auto& [begin, size] : taken_) idle -= static_cast<double>(size);
    return idle;
  }

 private:
  std::size_t bytes_;
  void* reserved_;
  std::byte* first_;
  std::map<std::size_t, std::size_t> taken_;  // sizes by begin, in bytes from first_
  std::size_t touched_ = 0;
};

class CpuDevice : public Device {
 public:
  CpuDevice() {
    // More take turns; and far more than the system has threads for end the program, unsaid.
    if (omp_get_max_threads() > omp_get_num_procs()) {
      throw Unavailable(fmt::format(
          "OMP_NUM_THREADS: expected at most the {} processors that this process may run on, got "
          "{} threads; unset it, or widen the affinity",
          omp_get_num_procs(), omp_get_max_threads()));
    }
    facts_.backend = "cpu";
    facts_.name = processor_name();
    facts_.processors = omp_get_max_threads();
    facts_.memory_bytes =
        static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
    facts_.cache_bytes = last_level_cache_bytes();
    arena_ = std::make_shared<Arena>(facts_.memory_bytes);
  }

  const roofline::DeviceFacts& facts() const override { return facts_; }
  std::span<const kernels::Kernel> kernels() const override { return kernels::cpu_kernels(); }
  kernels::Queue queue() const override { return {.processors = facts_.processors}; }
  double free_bytes() const override { return available_host_bytes() + arena_->idle_bytes(); }

  Memory allocate(std::size_t bytes) override {
    const bool small = bytes < Arena::kUnit;
    const std::size_t unit = small ? 256 : Arena::kUnit;
    const std::size_t padded = (std::max<std::size_t>(bytes, 1) + unit - 1) / unit * unit;
    const double free = free_bytes();
    void* data = nullptr;
    if (static_cast<double>(padded) < free) {
      data = small ? std::aligned_alloc(unit, padded) : arena_->take(padded);
    }
    if (data == nullptr) throw OutOfMemory(static_cast<double>(bytes), free);
    if (small) return {data, &std::free};
    return {data,
            [arena = arena_](void* block) { arena->give(block); }};  // which outlives the device
  }

  void fill(void* data, roofline::Dtype dtype, kernels::InputKind kind, std::uint64_t seed,
            std::int64_t n) override {
    // Less than a page by one thread: there is nothing to place, and with a busy core the thousands
    // of copies of a small set would wait for 8 ms each until all threads have run.
    kernels::Queue threads = queue();
    if (static_cast<double>(n) * bytes_per_element(dtype) < Arena::kUnit) threads.processors = 1;
    kernels::cpu_fill(data, name(dtype).data(), kind, seed, n, threads);
  }
  void poison(void* data, std::size_t bytes) override { std::memset(data, 0xFF, bytes); }
  void download(void* host, const void* data, std::size_t bytes) override {
    std::memcpy(host, data, bytes);
  }

  Timed timed(const std::function<void(int)>& launch, int copies, int launches) override {
    return {launches, [this, launch, copies, launches, next = 0]() mutable {
              const double start = now_s();
              for (int i = 0; i < launches; ++i) {
                launch(next);
                next = (next + 1) % copies;
              }
              const double run_s = now_s() - start;
              const auto before = std::exchange(waited_s_, waiting_.total_s());
              ++runs_;
              if (before && waited_s_ && *waited_s_ - *before > kHeldUp * run_s) ++held_up_;
              return run_s;
            }};
  }

  Telemetry telemetry() override {
    Telemetry t;
    if (waited_s_ && runs_ > 0) t.held_up = static_cast<double>(held_up_) / runs_;
    runs_ = held_up_ = 0;
    waited_s_ = waiting_.total_s();  // what is waited for from here to the next run is that run's
    return t;
  }

  std::map<std::string, std::string> environment() override {
    constexpr std::string_view kBindings[] = {"false", "true", "primary", "close", "spread"};
    const auto binding = static_cast<std::size_t>(omp_get_proc_bind());
    std::map<std::string, std::string> all = {
        {"threads_bound", std::string(binding < std::size(kBindings) ? kBindings[binding] : "")},
        {"openmp", std::to_string(_OPENMP)},
        {"openmp_path", library_of("omp_get_max_threads")}};
#ifdef ROOFLINE_HAS_ONEDNN
    all["onednn"] = onednn_version();
    all["onednn_path"] = library_of("dnnl_version");
#endif
    return all;
  }

  double now_s() const override {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

 private:
  roofline::DeviceFacts facts_;
  std::shared_ptr<Arena> arena_;
  Waiting waiting_;
  static constexpr double kHeldUp = 0.02;  // of a run's time: as much as --max-noise allows
  std::optional<double> waited_s_;         // after the last run
  int runs_ = 0, held_up_ = 0;             // since the last telemetry()
};

}  // namespace

double available_host_bytes() {
  const std::string kib = value_in("/proc/meminfo", "MemAvailable");
  return kib.empty() ? 0 : 1024 * std::strtod(kib.c_str(), nullptr);
}

std::unique_ptr<Device> make_cpu_device() { return std::make_unique<CpuDevice>(); }

}  // namespace bench
