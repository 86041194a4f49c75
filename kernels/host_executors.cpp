// The executors of any machine: the cpu's loops, and the CUDA kernels on fibers.
#include <cstring>
#include <new>

#include "kernels/cpu/loops.h"
#include "kernels/executor.h"
#ifdef KERNELS_TEST_FIBERS
#include "kernels/fibers/fibers.h"
#include "kernels/ptx.cuh"
#endif

namespace kernels {
namespace {

constexpr std::align_val_t kAlignment{256};

/// To the byte, so that the address sanitizer sees the first one past it.
std::shared_ptr<std::byte> allocate(std::size_t bytes) {
  return {static_cast<std::byte*>(operator new(bytes, kAlignment)),
          [](std::byte* memory) { operator delete(memory, kAlignment); }};
}

void copy(void* to, const void* from, std::size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);  // memcpy takes no null, not even for nothing
}

}  // namespace

std::vector<Executor> executors() {
  std::vector<Executor> all;
#ifdef KERNELS_TEST_CPU
  for (const cpu::Loops* loops : cpu::usable_loops()) {
    all.push_back({loops->level, loops->table, loops->fill, {nullptr, 2}, allocate, copy, {}, {}});
  }
#endif
#ifdef KERNELS_TEST_FIBERS
  all.push_back({"fibers",
                 cuda_kernels(),
                 cuda_fill,
                 {nullptr, 1},
                 allocate,
                 copy,
                 {[] { fibers::set_order(fibers::Order::reverse); },
                  [] { fibers::set_order(fibers::Order::shuffled); },
                  [] { fibers::set_order(fibers::Order::forward); }},
                 {[] { host_tanh_error = kTanhPackedError; },
                  [] { host_tanh_error = -kTanhPackedError; }, [] { host_tanh_error = 0.0F; }},
                 launch_clock_stamp});
#endif
  return all;
}

std::string unusable() { return ""; }

}  // namespace kernels
