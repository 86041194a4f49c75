#include "roofline/roof.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace roofline {
namespace {

constexpr std::array<std::string_view, 3> kKinds = {"datasheet", "derived", "measured"};
constexpr std::array<std::string_view, 4> kLevels = {"", "memory", "cache", "link"};
constexpr std::array<std::string_view, 3> kPipes = {"", "vector", "matrix"};
constexpr std::array<std::string_view, 5> kAccesses = {"", "read", "write", "copy", "triad"};
constexpr std::array<std::string_view, 3> kBounds = {"memory", "compute", "launch"};

template <typename Enum, std::size_t N>
std::optional<Enum> parse(const std::array<std::string_view, N>& names, std::string_view text) {
  const auto at = std::find(names.begin(), names.end(), text);
  if (at == names.end()) return std::nullopt;
  return static_cast<Enum>(at - names.begin());
}

/// The types that a compute roof of `c` is listed under: GEMMs by what they multiply.
Dtype roof_dtype(const Case& c) {
  if (c.op == Op::fma) return c.a;
  if (c.op != Op::gemm && c.op != Op::mma) return Dtype::fp32;
  return input_dtype(c);
}

const Roof* best(std::span<const Roof> roofs, auto&& fits) {
  const Roof* found = nullptr;
  for (const Roof& r : roofs) {
    if (fits(r) && (found == nullptr || r.kind < found->kind)) found = &r;
  }
  return found;
}

/// max(bytes / bandwidth, FLOPs / peak): nothing where a roof that may bind is unknown.
std::optional<Seconds> least_time(const Cost& work, const Roof* memory, const Roof* compute) {
  const bool moves = work.bytes().value > 0, computes = work.flops.value > 0;
  if ((moves && memory == nullptr) || (computes && compute == nullptr)) return std::nullopt;
  const Seconds moving = moves ? work.bytes() / memory->bytes_per_s() : Seconds{};
  const Seconds computing = computes ? work.flops / compute->flops_per_s() : Seconds{};
  return std::max(moving, computing);
}

}  // namespace

std::string_view name(Kind kind) { return kKinds[static_cast<int>(kind)]; }
std::string_view name(Level level) { return kLevels[static_cast<int>(level)]; }
std::string_view name(Pipe pipe) { return kPipes[static_cast<int>(pipe)]; }
std::string_view name(Access access) { return kAccesses[static_cast<int>(access)]; }
std::string_view name(Bound bound) { return kBounds[static_cast<int>(bound)]; }
std::optional<Kind> parse_kind(std::string_view name) { return parse<Kind>(kKinds, name); }
std::optional<Level> parse_level(std::string_view name) { return parse<Level>(kLevels, name); }
std::optional<Pipe> parse_pipe(std::string_view name) { return parse<Pipe>(kPipes, name); }
std::optional<Access> parse_access(std::string_view name) { return parse<Access>(kAccesses, name); }
std::optional<Bound> parse_bound(std::string_view name) { return parse<Bound>(kBounds, name); }

Level uncached_level(const Case& c) { return crosses_link(c.op) ? Level::link : Level::memory; }

Placing place(const Case& c, Level level, std::span<const Roof> roofs) {
  const Pipe on = pipe(c);
  const Dtype dtype = roof_dtype(c);
  const auto memory = [&](const Roof& r) {
    return level != Level::none && r.level == level &&
           (r.access == Access::none || r.access == info(c.op).access);
  };
  const auto compute = [&](const Roof& r) {
    return on != Pipe::none && r.pipe == on && r.dtype == dtype;
  };
  const auto measured = [](const Roof& r) { return r.kind == Kind::measured; };

  Placing p;
  p.memory = best(roofs, memory);
  p.compute = best(roofs, compute);
  p.measured_memory = best(roofs, [&](const Roof& r) { return measured(r) && memory(r); });
  p.measured_compute = best(roofs, [&](const Roof& r) { return measured(r) && compute(r); });

  const Cost work = cost(c);
  p.roof_time = least_time(work, p.memory, p.compute);
  p.measured_roof_time = least_time(work, p.measured_memory, p.measured_compute);
  if (p.roof_time && p.roof_time->value > 0) {
    const bool memory_binds =
        work.bytes().value > 0 && *p.roof_time == work.bytes() / p.memory->bytes_per_s();
    p.roof = memory_binds ? p.memory : p.compute;
    p.bound = memory_binds ? Bound::memory : Bound::compute;
  }
  return p;
}

const Roof* mfu_peak(const Case& c, std::span<const Roof> roofs) {
  if (pipe(c) == Pipe::none || c.op == Op::gelu || c.op == Op::gelu_erf) return nullptr;
  const bool multiplies = c.op == Op::gemm || c.op == Op::mma;
  const Case gemm = multiplies ? c : make_case(Op::gemm, c.a, 1, 1, 1);
  return best(roofs, [&](const Roof& r) {
    return r.kind == Kind::datasheet && r.pipe == pipe(gemm) && r.dtype == roof_dtype(gemm);
  });
}

}  // namespace roofline
