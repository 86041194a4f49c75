// What kernels/cpu/loops.cpp provides, once per level of the instruction set.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/table.h"

namespace kernels::cpu {

struct Loops {
  const char* level;
  std::span<const Kernel> table;
  void (*fill)(void* data, const char* dtype, InputKind kind, std::uint64_t seed, std::int64_t n,
               const Queue& queue);
};

// Each is defined by loops.cpp, compiled with KERNELS_CPU_LEVEL set to its name.
extern const Loops x86_64_v2;  // SSE4.2
extern const Loops x86_64_v3;  // AVX2, FMA, F16C
extern const Loops x86_64_v4;  // AVX-512 F, BW, CD, DQ, VL
extern const Loops portable;   // what the compiler takes for a processor of this kind

/// Those that this processor can run, the best first.
std::vector<const Loops*> usable_loops();

}  // namespace kernels::cpu
