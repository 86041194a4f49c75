#include "bench/suite.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace bench {
namespace {

using roofline::Case;
using roofline::Dtype;
using roofline::make_case;
using roofline::Op;

constexpr Dtype kStored[] = {Dtype::fp32, Dtype::fp16, Dtype::bf16, Dtype::fp8_e4m3,
                             Dtype::fp8_e5m2};
constexpr Dtype kMultiplied[] = {Dtype::fp32, Dtype::tf32,     Dtype::fp16,
                                 Dtype::bf16, Dtype::fp8_e4m3, Dtype::fp8_e5m2};

/// "relu+gelu/bf16/134217728"
std::string name_of(const std::vector<Case>& cases) {
  std::vector<std::string_view> ops;
  for (const Case& c : cases) ops.push_back(name(c.op));
  const std::string first = name(cases.front());
  return fmt::format("{}{}", fmt::join(ops, "+"), first.substr(first.find('/')));
}

Group group(std::vector<Case> cases) { return {name_of(cases), std::move(cases)}; }

/// Bytes that one launch of a bandwidth row moves: far past any cache, and long enough that the
/// ramps at both ends of a launch are below 1 % (H200: 512 MiB reach 79 % of the roof, 1 GiB 92 %).
double moved_bytes(const roofline::DeviceFacts& device) {
  return device.backend == "cpu" ? 256.0 * (1 << 20) : 1024.0 * (1 << 20);
}

Case of_size(Op op, Dtype dtype, double bytes) {
  Case one = make_case(op, dtype, 1, 1 << 20, 1);
  one.n = static_cast<std::int64_t>(bytes / cost(one).bytes().value * (1 << 20)) / 4096 * 4096;
  return one;
}

/// A square matrix that fills `bytes`, in multiples of 1024.
Case square_gemv(Dtype dtype, double bytes) {
  std::int64_t n = 1024;
  while (static_cast<double>((n + 1024) * (n + 1024)) * bytes_per_element(dtype) <= bytes * 1.2) {
    n += 1024;
  }
  return make_case(Op::gemv, dtype, n, n, 1);
}

/// What measures the roofs: every access mix, and the arithmetic of the vector pipe.
void add_roofs(std::vector<Group>& groups, const roofline::DeviceFacts& device) {
  std::vector<Case> cases = {make_case(Op::empty, Dtype::fp32, 1, 1, 1)};
  for (const Op op : {Op::read, Op::write, Op::copy, Op::triad}) {
    cases.push_back(of_size(op, Dtype::fp32, moved_bytes(device)));
  }
  cases.push_back(make_case(Op::fma, Dtype::fp32, 4096, 1 << 20, 1));
  if (device.backend == "cuda") cases.push_back(make_case(Op::fma, Dtype::fp16, 4096, 1 << 20, 1));
  for (const Case& c : cases) {
    groups.push_back(group({c}));
    groups.back().measures_roof = true;
  }
}

std::vector<Group> quick(const roofline::DeviceFacts& device) {
  std::vector<Group> groups;
  add_roofs(groups, device);
  const double bytes = moved_bytes(device);
  for (const Dtype t : kStored) {
    groups.push_back(group({of_size(Op::relu, t, bytes), of_size(Op::gelu, t, bytes)}));
  }
  for (const Dtype t : kStored) groups.push_back(group({of_size(Op::dot, t, bytes)}));
  for (const Dtype t : kStored) groups.push_back(group({square_gemv(t, bytes)}));
  const std::int64_t n = device.backend == "cpu" ? 1024 : 4096;
  for (const Dtype t : kMultiplied) groups.push_back(group({make_case(Op::gemm, t, n, n, n)}));
  return groups;
}

struct Suite {
  std::string_view name;
  std::vector<Group> (*make)(const roofline::DeviceFacts& device);
  double cuda_budget_s, cpu_budget_s;
};

constexpr Suite kSuites[] = {{"quick", &quick, 45, 40}};

const Suite& find(std::string_view name) {
  for (const Suite& s : kSuites) {
    if (s.name == name) return s;
  }
  throw std::invalid_argument(
      fmt::format("--suite={}: expected {}", name, fmt::join(suite_names(), ", ")));
}

/// "8x64x64x64" as numbers; empty where it is none.
std::vector<std::int64_t> parse_shape(std::string_view text) {
  std::vector<std::int64_t> sizes;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    std::int64_t size = 0;
    const auto [stop, error] = std::from_chars(at, end, size);
    if (error != std::errc{} || size < 1 || (stop < end && *stop != 'x')) return {};
    sizes.push_back(size);
    at = stop + 1;
    if (stop + 1 == end) return {};  // ends in an x
  }
  return sizes;
}

Case with_shape(Op op, Dtype dtype, std::string_view shape) {
  const std::vector<std::int64_t> s = parse_shape(shape);
  const auto dims = static_cast<std::size_t>(info(op).dims);
  const bool batched = op == Op::gemm && s.size() == 4;
  if (s.size() != dims && !batched) {
    constexpr std::string_view kForms[] = {"", "N", "MxN", "MxNxK or BxMxNxK"};
    throw std::invalid_argument(
        fmt::format("--shape={}: {} takes {}, of whole numbers from 1 up, such as {}", shape,
                    name(op), kForms[dims],
                    dims == 1   ? "1048576"
                    : dims == 2 ? "4096x4096"
                                : "4096x4096x4096"));
  }
  if (dims == 1) return make_case(op, dtype, 1, s[0], 1);
  if (dims == 2) return make_case(op, dtype, s[0], s[1], 1);
  Case c = make_case(op, dtype, s[s.size() - 3], s[s.size() - 2], s[s.size() - 1]);
  if (batched) c.batch = s[0];
  return c;
}

template <typename List>
bool contains(const List& list, const auto& value) {
  return std::find(std::begin(list), std::end(list), value) != std::end(list);
}

[[noreturn]] void nothing_matches() {
  throw std::invalid_argument(
      "--op and --dtype: nothing in the suite is of that op and dtype; roofline_bench "
      "--benchmark_list_tests lists what is");
}

}  // namespace

std::vector<std::string_view> suite_names() {
  std::vector<std::string_view> names;
  for (const Suite& s : kSuites) names.push_back(s.name);
  return names;
}

double default_budget_s(std::string_view suite, bool cpu) {
  return cpu ? find(suite).cpu_budget_s : find(suite).cuda_budget_s;
}

std::vector<Group> make_suite(std::string_view name, const roofline::DeviceFacts& device) {
  return find(name).make(device);
}

bool asks_for(const Request& request, const Case& c) {
  const Dtype dtype = c.compute == Dtype::tf32 ? Dtype::tf32 : c.a;
  return (request.ops.empty() || contains(request.ops, c.op)) &&
         (request.dtypes.empty() || contains(request.dtypes, dtype));
}

std::vector<Group> select(std::vector<Group> suite, const Request& request) {
  bool any = false;
  if (!request.shape) {
    for (Group& g : suite) {
      any = std::any_of(g.cases.begin(), g.cases.end(),
                        [&](const Case& c) { return asks_for(request, c); }) ||
            any;
      if (g.measures_roof) continue;
      std::erase_if(g.cases, [&](const Case& c) { return !asks_for(request, c); });
      if (!g.cases.empty()) g.name = name_of(g.cases);
    }
    std::erase_if(suite, [](const Group& g) { return g.cases.empty(); });
    if (!any) nothing_matches();
    return suite;
  }
  if (request.ops.empty()) {
    throw std::invalid_argument(
        fmt::format("--shape={}: say of which op, as in --op=gemm", *request.shape));
  }
  std::erase_if(suite, [](const Group& g) { return !g.measures_roof; });
  for (const Op op : request.ops) {
    const auto of_op = [&](const auto& dtypes) {
      for (const Dtype t : dtypes) {
        if (!request.dtypes.empty() && !contains(request.dtypes, t)) continue;
        suite.push_back(group({with_shape(op, t, *request.shape)}));
        any = true;
      }
    };
    if (op == Op::gemm) {
      of_op(kMultiplied);
    } else {
      of_op(kStored);
    }
  }
  if (!any) nothing_matches();
  return suite;
}

}  // namespace bench
