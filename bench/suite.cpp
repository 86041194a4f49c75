#include "bench/suite.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <stdexcept>
#include <utility>

namespace bench {
namespace {

using roofline::Case;
using roofline::Dtype;
using roofline::Layout;
using roofline::make_case;
using roofline::Op;

constexpr Dtype kStored[] = {Dtype::fp32, Dtype::fp16, Dtype::bf16, Dtype::fp8_e4m3,
                             Dtype::fp8_e5m2};
constexpr Dtype kMultiplied[] = {Dtype::fp32, Dtype::tf32,     Dtype::fp16,
                                 Dtype::bf16, Dtype::fp8_e4m3, Dtype::fp8_e5m2};
constexpr auto kMatrixTypes = std::span(kMultiplied).subspan<1>();  // but fp32

/// What sizes depend on.
struct Machine {
  bool is_cpu;
  std::int64_t processors;
  double moved_bytes;  // by one launch of a bandwidth row
};

/// "relu+gelu/bf16/134217728"
std::string name_of(const std::vector<Case>& cases) {
  std::vector<std::string_view> ops;
  for (const Case& c : cases) ops.push_back(name(c.op));
  const std::string first = name(cases.front());
  return fmt::format("{}{}", fmt::join(ops, "+"), first.substr(first.find('/')));
}

Group group(std::vector<Case> cases) { return {name_of(cases), std::move(cases)}; }

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

/// The matrix pipe of every processor for some 0.6 ms on a Hopper, which makes little of what its
/// launch costs; for less where little is to be moved: a GPU may be a slow one.
Case matrix_peak(Dtype dtype, const Machine& machine) {
  constexpr std::int64_t kTile = 16384, kTurn = 4, kMostSteps = 8192;  // 64 x 256 sums
  const auto turns = static_cast<std::int64_t>(machine.moved_bytes / (1 << 19));
  const std::int64_t steps = std::clamp(turns * kTurn, kTurn, kMostSteps);
  Case c = make_case(Op::mma, dtype, steps, kTile * machine.processors, 1);
  c.k = static_cast<std::int64_t>(32 / bytes_per_element(c.a));
  return c;
}

/// What measures the roofs: every access mix, and the arithmetic of the pipes.
void add_roofs(std::vector<Group>& groups, const Machine& machine) {
  std::vector<Case> cases = {make_case(Op::empty, Dtype::fp32, 1, 1, 1)};
  for (const Op op : {Op::read, Op::write, Op::copy, Op::triad}) {
    cases.push_back(of_size(op, Dtype::fp32, machine.moved_bytes));
  }
  // Whole waves: 4 blocks of 256 threads x 16 elements an SM in fp32, 2 in packed fp16; and steps
  // enough, 8192 or 1.2 ms on an H200, for what a wave takes to start and to end to be below 1 %.
  const std::int64_t n = machine.is_cpu ? 1 << 20 : std::int64_t{16384} * machine.processors;
  const auto steps =
      static_cast<std::int64_t>(std::clamp(machine.moved_bytes / 131072, 256., 8192.));
  cases.push_back(make_case(Op::fma, Dtype::fp32, machine.is_cpu ? 1024 : steps, n, 1));
  if (!machine.is_cpu) {
    cases.push_back(make_case(Op::fma, Dtype::fp16, steps, n, 1));
    for (const Dtype t : kMatrixTypes) cases.push_back(matrix_peak(t, machine));
  }
  for (const Case& c : cases) {
    groups.push_back(group({c}));
    groups.back().measures_roof = true;
  }
}

void add_gemms(std::vector<Group>& groups, std::int64_t n, bool sustained = false) {
  const auto add = [&](const Case& c) {
    groups.push_back(group({c}));
    groups.back().sustained = sustained;
  };
  for (const Dtype t : kMultiplied) add(make_case(Op::gemm, t, n, n, n));
  // The two mixed pairs that cuBLASLt takes, and the one of E5M2 alone that it does not, above.
  for (const auto& [a, b] :
       {std::pair{Dtype::fp8_e4m3, Dtype::fp8_e5m2}, std::pair{Dtype::fp8_e5m2, Dtype::fp8_e4m3}}) {
    Case mixed = make_case(Op::gemm, a, n, n, n);
    mixed.b = b;
    add(mixed);
  }
}

/// Keeps the first group of each name.
std::vector<Group> unique(std::vector<Group> groups) {
  std::set<std::string> seen;
  std::erase_if(groups, [&](const Group& g) { return !seen.insert(g.name).second; });
  return groups;
}

std::vector<Group> quick(const Machine& machine) {
  std::vector<Group> groups;
  add_roofs(groups, machine);
  const double bytes = machine.moved_bytes;
  for (const Dtype t : kStored) {
    groups.push_back(group({of_size(Op::relu, t, bytes), of_size(Op::gelu, t, bytes)}));
  }
  for (const Dtype t : kStored) groups.push_back(group({of_size(Op::dot, t, bytes)}));
  for (const Dtype t : kStored) groups.push_back(group({square_gemv(t, bytes)}));
  add_gemms(groups, machine.is_cpu ? 1024 : 4096);
  return groups;
}

/// One layer's weights, N x K, from decode (M = 1) to prefill: from the bandwidth roof to the
/// compute roof. M on tile multiples, N on whole waves of 128-wide tiles, so that the steps that
/// show are the schedule's and not a ragged edge's.
void add_ridge(std::vector<Group>& groups, const Machine& machine, Dtype dtype,
               std::span<const std::int64_t> rows) {
  const std::int64_t wave = 128 * machine.processors;
  const std::int64_t waves = std::max<std::int64_t>(1, (16384 + wave / 2) / wave);
  const std::int64_t n = machine.is_cpu ? 2048 : waves * wave;  // 16896 on 132 SMs
  const std::int64_t k = machine.is_cpu ? 2048 : 16384;
  for (const std::int64_t m : rows) groups.push_back(group({make_case(Op::gemm, dtype, m, n, k)}));
}

/// Forward Y[M,N] = X[M,K] W[K,N] and its two gradients, dX = dY W^T and dW = X^T dY: the same
/// FLOPs each, so that backward costs twice the forward.
Group backward_trio(Dtype dtype, std::int64_t m, std::int64_t n, std::int64_t k) {
  Case input_gradient = make_case(Op::gemm, dtype, m, k, n);
  input_gradient.layout = Layout::nn;
  Case weight_gradient = make_case(Op::gemm, dtype, k, n, m);
  weight_gradient.layout = Layout::nt;
  return group({make_case(Op::gemm, dtype, m, n, k), input_gradient, weight_gradient});
}

constexpr std::int64_t kDecodeToPrefill[] = {1,   16,  64,  128,  192,  256, 320,
                                             384, 512, 768, 1024, 2048, 4096};

std::vector<Group> ridge(const Machine& machine) {
  std::vector<Group> groups;
  add_roofs(groups, machine);
  for (const Dtype t : kMultiplied) add_ridge(groups, machine, t, kDecodeToPrefill);
  return groups;
}

/// Bandwidth over size, cold and hot: from the cost of a launch to the plateaus of the cache and of
/// the memory.
std::vector<Group> ramp(const Machine& machine) {
  std::vector<Group> groups;
  add_roofs(groups, machine);
  const double most = (machine.is_cpu ? 1 : 4) * machine.moved_bytes;  // 4 GiB on a GPU
  for (const Op op : {Op::read, Op::copy}) {
    for (double bytes = 1 << 16; bytes <= most; bytes *= 2) {
      groups.push_back(group({of_size(op, Dtype::fp32, bytes)}));
    }
  }
  return unique(std::move(groups));
}

/// What moving data to the device and back costs, from latency to the link's rate.
std::vector<Group> transfer(const Machine& machine) {
  std::vector<Group> groups;
  const auto both_ways = [](double bytes) {
    return group({of_size(Op::h2d, Dtype::fp32, bytes), of_size(Op::d2h, Dtype::fp32, bytes)});
  };
  if (!machine.is_cpu) groups.push_back(group({make_case(Op::empty, Dtype::fp32, 1, 1, 1)}));
  groups.push_back(both_ways(1 << 30));
  for (Group& g : groups) g.measures_roof = true;
  for (double bytes = 1 << 16; bytes < 1 << 30; bytes *= 4) groups.push_back(both_ways(bytes));
  return groups;
}

/// The matrices of a decoding step, [out, in] as a linear layer keeps them: attention of a model of
/// 8B parameters, the two of a 70B model's MLP, and its vocabulary (Llama 3).
void add_decode(std::vector<Group>& groups) {
  constexpr std::pair<std::int64_t, std::int64_t> kLayers[] = {
      {4096, 4096}, {28672, 8192}, {8192, 28672}, {128256, 8192}};
  for (const auto& [m, n] : kLayers) {
    for (const Dtype t : kStored) groups.push_back(group({make_case(Op::gemv, t, m, n, 1)}));
  }
}

std::vector<Group> standard(const Machine& machine) {
  std::vector<Group> groups = quick(machine);
  if (!machine.is_cpu) add_decode(groups);
  for (const std::int64_t n : {1024, 2048, 4096, 8192}) {
    // What runs long enough to heat a GPU, also without pause: its clock is another then.
    const bool largest = n == 8192;
    if (!machine.is_cpu || n <= 2048) add_gemms(groups, n, largest);
  }
  // The lecture's 79 %: x[16384, 32768] w[32768, 8192] in fp32, 0.16 s on an H100, minutes on a
  // CPU. Its x was all ones, which draw less power.
  if (!machine.is_cpu) {
    groups.push_back(group({make_case(Op::gemm, Dtype::fp32, 16384, 8192, 32768)}));
    groups.back().data = {kernels::InputKind::normal, kernels::InputKind::ones};
  }
  const std::int64_t layer = machine.is_cpu ? 1024 : 4096;
  groups.push_back(backward_trio(Dtype::bf16, layer, layer, layer));
  constexpr std::int64_t kEight[] = {1, 16, 64, 128, 256, 512, 1024, 4096};
  add_ridge(groups, machine, machine.is_cpu ? Dtype::fp32 : Dtype::fp8_e4m3, kEight);
  add_ridge(groups, machine, Dtype::bf16, kEight);
  constexpr std::int64_t kDecode[] = {1};
  for (const Dtype t : kMultiplied) add_ridge(groups, machine, t, kDecode);
  // The lecture's n = 2^20: 4 MiB, which take about as long as a launch.
  groups.push_back(group({make_case(Op::relu, Dtype::bf16, 1, 1 << 20, 1)}));
  return unique(std::move(groups));
}

/// All that there is, and GEMMs with every kind of inputs: those that toggle fewer bits draw less
/// power, and so are faster where power binds.
std::vector<Group> full(const Machine& machine) {
  using enum kernels::InputKind;
  std::vector<Group> groups = standard(machine);
  for (Group& g : groups) {
    if (g.cases.front().op == Op::gemm) g.data = {normal, uniform, integers, ones, zeros};
  }
  for (auto* const suite : {&ramp, &ridge, &transfer}) {
    for (Group& g : suite(machine)) groups.push_back(std::move(g));
  }
  std::stable_partition(groups.begin(), groups.end(),
                        [](const Group& g) { return g.measures_roof; });
  return unique(std::move(groups));
}

struct Suite {
  std::string_view name;
  std::vector<Group> (*make)(const Machine& machine);
  double cuda_budget_s, cpu_budget_s;
  std::string_view cache = "cold";
  int cpu_visits = 3;  // whose host may be another from minute to minute
};

constexpr Suite kSuites[] = {
    {"quick", &quick, 45, 40, "cold", 1}, {"default", &standard, 240, 180},
    {"ridge", &ridge, 180, 180},          {"ramp", &ramp, 180, 120, "both"},
    {"transfer", &transfer, 60, 60},      {"full", &full, 1200, 1200, "both"},
};

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
    const std::string_view forms[] = {"", "N", "MxN",
                                      op == Op::gemm ? "MxNxK or BxMxNxK" : "MxNxK"};
    throw std::invalid_argument(
        fmt::format("--shape={}: {} takes {}, of whole numbers from 1 up, such as {}", shape,
                    name(op), forms[dims],
                    dims == 1        ? "1048576"
                    : dims == 2      ? "4096x4096"
                    : op == Op::gemm ? "4096x4096x4096"
                                     : "8192x2162688x16"));
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

/// "--suite=quick or --suite=full": those that have it on such a machine; empty for none.
std::string suites_with(const Request& request, bool is_cpu) {
  std::vector<std::string> with_it;
  for (const Suite& s : kSuites) {
    const auto groups = s.make({.is_cpu = is_cpu, .processors = 1, .moved_bytes = 1 << 30});
    const bool any = std::any_of(groups.begin(), groups.end(), [&](const Group& g) {
      return std::any_of(g.cases.begin(), g.cases.end(),
                         [&](const Case& c) { return asks_for(request, c); });
    });
    if (any) with_it.push_back(fmt::format("--suite={}", s.name));
  }
  return fmt::format("{}", fmt::join(with_it, " or "));
}

/// Names what has it instead.
[[noreturn]] void nothing_matches(const Request& request, bool is_cpu) {
  std::string where = "any suite", cure = "roofline_bench --benchmark_list_tests lists what is";
  if (const std::string suites = suites_with(request, is_cpu); !suites.empty()) {
    where = "this suite";
    cure = suites + " has it";
  } else if (is_cpu && !suites_with(request, false).empty()) {
    where += " of a cpu";
    cure = "--device=cuda has it";
  } else if (!request.shape) {
    cure += ", and with --shape an op is measured in every dtype that it has";
  }
  throw std::invalid_argument(
      fmt::format("--op and --dtype: nothing in {} is of that op and dtype; {}", where, cure));
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

int default_visits(std::string_view suite, bool cpu) { return cpu ? find(suite).cpu_visits : 1; }

std::string_view default_cache(std::string_view suite) { return find(suite).cache; }

double default_moved_bytes(const roofline::DeviceFacts& device) {
  return device.backend == "cpu" ? 256.0 * (1 << 20) : 1024.0 * (1 << 20);
}

std::vector<Group> make_suite(std::string_view name, const roofline::DeviceFacts& device,
                              double moved_bytes) {
  return find(name).make({.is_cpu = device.backend == "cpu",
                          .processors = device.processors,
                          .moved_bytes = moved_bytes});
}

bool asks_for(const Request& request, const Case& c) {
  const Dtype dtype = input_dtype(c);
  return (request.ops.empty() || contains(request.ops, c.op)) &&
         (request.dtypes.empty() || contains(request.dtypes, dtype));
}

std::vector<Group> select(std::vector<Group> suite, const Request& request,
                          const roofline::DeviceFacts& device) {
  const bool is_cpu = device.backend == "cpu";
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
    if (!any) nothing_matches(request, is_cpu);
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
    } else if (op == Op::mma) {
      of_op(kMatrixTypes);
    } else {
      of_op(kStored);
    }
  }
  if (!any) nothing_matches(request, is_cpu);
  return suite;
}

}  // namespace bench
