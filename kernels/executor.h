// What the one test of the kernels runs on: a table of kernels and the memory they work on. Each
// test binary is linked with a file that says which executors it has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/clock.h"
#include "kernels/table.h"

namespace kernels {

struct Executor {
  std::string name;  // "x86_64_v3", "fibers", "gpu"
  std::span<const Kernel> table;
  decltype(&cpu_fill) fill;
  Queue queue;  // few processors: small sizes are past a grid then
  std::shared_ptr<std::byte> (*allocate)(std::size_t bytes);    // 256-byte aligned
  void (*copy)(void* to, const void* from, std::size_t bytes);  // either way; waits for all before
  /// Each has the threads of a block run in another order from then on; none on a real GPU.
  std::vector<void (*)()> orders;
  /// Each has the approximations of the hardware err by their documented bound from then on, up or
  /// down, the last not at all; none on a real GPU, which errs as it does.
  std::vector<void (*)()> errors;
  decltype(&launch_clock_stamp) stamp = nullptr;  // where there are SMs
  int (*compute_capability)() = nullptr;          // of a real GPU; 90: 9.0

  /// On fibers or a GPU; else its table is of loops.
  bool runs_cuda() const { return stamp != nullptr; }
};

std::vector<Executor> executors();

/// Why nothing can run here ("" if it can): a GPU test on a machine without one.
std::string unusable();

}  // namespace kernels
