// The CPU as a device: memory, OpenMP loops, the steady clock.
#include <dlfcn.h>
#include <omp.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <string_view>

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

double last_level_cache_bytes() {
  for (const int level : {_SC_LEVEL4_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL2_CACHE_SIZE}) {
    if (const long bytes = sysconf(level); bytes > 0) return static_cast<double>(bytes);
  }
  return 32.0 * (1 << 20);  // unknown: take a large one, so that cold rows stay cold
}

/// Large blocks that were given back. Groups ask for the same sizes over and over, and the system
/// takes a quarter of a second a GiB to make fresh pages, more than the sampling of a row takes.
class Pool {
 public:
  Pool() = default;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool() { clear(); }

  /// A block of `bytes` or up to a quarter more, which `bytes` then says; null where there is none.
  void* take(std::size_t& bytes) {
    const auto found = blocks_.lower_bound(bytes);
    if (found == blocks_.end() || found->first > bytes + bytes / 4) return nullptr;
    void* const block = found->second;
    bytes = found->first;
    blocks_.erase(found);
    return block;
  }
  void give(void* block, std::size_t bytes) { blocks_.emplace(bytes, block); }
  void clear() {
    for (const auto& [bytes, block] : blocks_) std::free(block);
    blocks_.clear();
  }
  double bytes() const {
    double total = 0;
    for (const auto& [bytes, block] : blocks_) total += static_cast<double>(bytes);
    return total;
  }

 private:
  std::multimap<std::size_t, void*> blocks_;
};

class CpuDevice : public Device {
 public:
  CpuDevice() {
    facts_.backend = "cpu";
    facts_.name = processor_name();
    facts_.processors = omp_get_max_threads();
    facts_.memory_bytes =
        static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
    facts_.cache_bytes = last_level_cache_bytes();
  }

  const roofline::DeviceFacts& facts() const override { return facts_; }
  std::span<const kernels::Kernel> kernels() const override { return kernels::cpu_kernels(); }
  kernels::Queue queue() const override { return {.processors = facts_.processors}; }
  double free_bytes() const override { return available_host_bytes() + pool_->bytes(); }

  Memory allocate(std::size_t bytes) override {
    // Huge pages where they are large: a stream over 4 KiB pages measures page walks, too.
    constexpr std::size_t kHuge = 2 << 20;
    const bool large = bytes >= kHuge;
    const std::size_t unit = large ? kHuge : 256;
    std::size_t padded = (std::max<std::size_t>(bytes, 1) + unit - 1) / unit * unit;
    if (void* const kept = pool_->take(padded)) return lend(kept, padded);
    const double free = free_bytes();
    if (static_cast<double>(padded) > available_host_bytes()) pool_->clear();
    void* const data =
        static_cast<double>(padded) < free ? std::aligned_alloc(unit, padded) : nullptr;
    if (data == nullptr) throw OutOfMemory(static_cast<double>(bytes), free);
    if (!large) return {data, [](void* p) { std::free(p); }};
    (void)madvise(data, padded, MADV_HUGEPAGE);  // a wish; refused, nothing is lost
    return lend(data, padded);
  }

  void fill(void* data, roofline::Dtype dtype, kernels::InputKind kind, std::uint64_t seed,
            std::int64_t n) override {
    kernels::cpu_fill(data, name(dtype).data(), kind, seed, n, queue());
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
              return now_s() - start;
            }};
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
  /// Memory that goes back to the pool with its last owner, which may outlive the device.
  Memory lend(void* data, std::size_t bytes) {
    return {data, [bytes, pool = pool_](void* p) { pool->give(p, bytes); }};
  }

  roofline::DeviceFacts facts_;
  std::shared_ptr<Pool> pool_ = std::make_shared<Pool>();
};

}  // namespace

double available_host_bytes() {
  const std::string kib = value_in("/proc/meminfo", "MemAvailable");
  return kib.empty() ? 0 : 1024 * std::strtod(kib.c_str(), nullptr);
}

std::unique_ptr<Device> make_cpu_device() { return std::make_unique<CpuDevice>(); }

}  // namespace bench
