// The cpu's table of kernels: the loops of the highest level that this processor has.
#include "kernels/cpu/loops.h"
#include "kernels/table.h"

namespace kernels {
namespace {

const cpu::Loops& loops() {
#ifdef __x86_64__
  // By features: gcc 11 cannot ask for a level by its name. No processor has one of these sets and
  // lacks another part of its level.
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl")) {
    return cpu::x86_64_v4;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("bmi2")) {
    return cpu::x86_64_v3;
  }
  return cpu::x86_64_v2;
#else
  return cpu::portable;
#endif
}

}  // namespace

std::span<const Kernel> cpu_kernels() { return loops().table; }

void cpu_fill(void* data, const char* dtype, InputKind kind, std::uint64_t seed, std::int64_t n,
              const Queue& queue) {
  loops().fill(data, dtype, kind, seed, n, queue);
}

}  // namespace kernels
