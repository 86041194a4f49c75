// Who computes a case: the one table that both backends and all libraries fill.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/device.h"
#include "bench/operands.h"
#include "roofline/case.h"

namespace bench {

/// One variant, ready to run on any copy of the operands. The sampler sees only `launch`.
struct Work {
  /// Enqueues the case on copy number `copy` and returns.
  std::function<void(int copy)> launch;
  // What the row says about how it is computed.
  Memory workspace;
  std::optional<std::int64_t> workspace_bytes;
  std::string numerical_impl;  // the pipe that the library's algorithm says it uses
  std::string scale_mode;
  std::optional<bool> fast_accumulation;
  std::string note;
  Memory host;             // of a transfer: the host's side of it, copy after copy
  bool with_host = false;  // the host takes part in its launches: see Device::timed_with_host()
  int launches = 0;        // in a sample; 0: as many as make it long enough
};

/// Names of variants that do the same in other ways, launch policies of ours or algorithms of a
/// library, the default first: the fastest is looked for among them. What is done otherwise, as
/// FP8's fast accumulation is of another error, is a list and a row of its own.
using Alternatives = std::vector<std::string>;

/// A row of the table. Functions, not a base class: a library is one row and three functions.
struct Implementation {
  std::string_view name;     // "ours", "cublaslt", "onednn": the CSV's `implementation`
  std::string_view backend;  // "cuda", "cpu"; empty for any
  /// Whether the op is its trade at all; if not, it has no row for it.
  bool (*offers)(roofline::Op op, const Device& device);
  /// Nothing if it computes the case on this device, else the reason, for the row's note.
  std::optional<std::string> (*refuses)(const roofline::Case& c, const Device& device);
  /// At least one list, of at least one variant.
  std::vector<Alternatives> (*variants)(const roofline::Case& c, Device& device);
  /// `operands` outlive the Work. Throws OutOfMemory, or std::runtime_error for the row's note.
  Work (*prepare)(const roofline::Case& c, const std::string& variant, const Operands& operands,
                  Device& device);
  /// Another library that does our work, to compare with: it takes part where --impl names it, or
  /// all.
  bool peer = false;
};

/// All that this build knows, for every backend.
std::span<const Implementation> implementations();

/// Of those that need a library: known also to a build without it.
namespace names {
inline constexpr std::string_view kCublasLt = "cublaslt", kCublasLtGemv = "cublaslt_gemv",
                                  kCublas = "cublas", kCudart = "cudart", kCub = "cub",
                                  kOneDnn = "onednn", kOpenBlas = "openblas";
}

/// How to build with an implementation that this build lacks; nothing for what no build has.
std::optional<std::string_view> cure_without(std::string_view name);

/// Whether the implementation has a row for the op on this device. `only`: names; empty for all but
/// peers.
bool takes_part(const Implementation& implementation, std::span<const std::string> only,
                roofline::Op op, const Device& device);

// The rows, each in a file of its own.
extern const Implementation kOurs;      // hand-written kernels and loops, on any device
extern const Implementation kCublasLt;  // cuda GEMMs
extern const Implementation kOneDnn;    // cpu GEMMs
extern const Implementation kTransfer;  // between host and device, by the device's own copy
// Peers.
extern const Implementation kOpenBlas;      // cpu: dot, GEMV, GEMM in fp32
extern const Implementation kCudart;        // cuda: copy
extern const Implementation kCublas;        // cuda: dot, GEMV
extern const Implementation kCublasLtGemv;  // cuda: GEMV as a GEMM of one row
extern const Implementation kCub;           // cuda: ReLU, GeLU, dot

}  // namespace bench
