// The cpu's table of kernels: the loops of the highest level that this processor has.
#include "kernels/cpu/loops.h"
#include "kernels/table.h"

namespace kernels {

namespace cpu {

std::vector<const Loops*> usable_loops() {
#ifdef KERNELS_CPU_X86_64_LEVELS
  std::vector<const Loops*> usable;
  // By features: gcc 11 cannot ask for a level by its name. No processor has one of these sets and
  // lacks another part of its level.
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl")) {
    usable.push_back(&x86_64_v4);
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("bmi2")) {
    usable.push_back(&x86_64_v3);
  }
  usable.push_back(&x86_64_v2);
  return usable;
#else
  return {&portable};
#endif
}

namespace {

const Loops& best() {
  static const Loops& loops = *usable_loops().front();
  return loops;
}

}  // namespace
}  // namespace cpu

std::span<const Kernel> cpu_kernels() { return cpu::best().table; }

void cpu_fill(void* data, const char* dtype, InputKind kind, std::uint64_t seed, std::int64_t n,
              const Queue& queue) {
  cpu::best().fill(data, dtype, kind, seed, n, queue);
}

}  // namespace kernels
