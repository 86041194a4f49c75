#include "roofline/case.h"

#include <fmt/format.h>

namespace roofline {
namespace {

// clang-format off
constexpr OpInfo kOps[] = {
    {Op::empty,    "empty",    1, Access::none,  "0",      "0"},
    {Op::read,     "read",     1, Access::read,  "0",      "n s"},
    {Op::write,    "write",    1, Access::write, "0",      "n s"},
    {Op::copy,     "copy",     1, Access::copy,  "0",      "2 n s"},
    {Op::triad,    "triad",    1, Access::triad, "2 n",    "3 n s"},
    {Op::fma,      "fma",      2, Access::none,  "2 m n",  "2 n s"},
    {Op::mma,      "mma",      3, Access::none,  "2 m n k", "4 n"},
    {Op::relu,     "relu",     1, Access::copy,  "n",      "2 n s"},
    {Op::gelu,     "gelu",     1, Access::copy,  "20 n",   "2 n s"},
    {Op::gelu_erf, "gelu_erf", 1, Access::copy,  "20 n",   "2 n s"},
    {Op::dot,      "dot",      1, Access::read,  "2 n",    "2 n s + 4"},
    {Op::gemv,     "gemv",     2, Access::read,  "2 m n",  "(m n + n) s + m s_out"},
    {Op::gemm,     "gemm",     3, Access::read,  "2 m n k", "m k s_a + k n s_b + m n s_out"},
    {Op::h2d,      "h2d",      1, Access::read,  "0",      "n s"},
    {Op::d2h,      "d2h",      1, Access::write, "0",      "n s"},
};
constexpr std::string_view kLayouts[] = {"", "tn", "nn", "nt"};
// clang-format on

bool is_fp8(Dtype t) { return t == Dtype::fp8_e4m3 || t == Dtype::fp8_e5m2; }

}  // namespace

std::span<const OpInfo> ops() { return kOps; }

const OpInfo& info(Op op) { return kOps[static_cast<int>(op)]; }

std::string_view name(Op op) { return info(op).name; }

std::optional<Op> parse_op(std::string_view name) {
  for (const OpInfo& o : kOps) {
    if (o.name == name) return o.op;
  }
  return std::nullopt;
}

std::string_view name(Layout layout) { return kLayouts[static_cast<int>(layout)]; }

std::optional<Layout> parse_layout(std::string_view name) {
  for (const Layout l : {Layout::none, Layout::tn, Layout::nn, Layout::nt}) {
    if (name == kLayouts[static_cast<int>(l)]) return l;
  }
  return std::nullopt;
}

Case make_case(Op op, Dtype dtype, std::int64_t m, std::int64_t n, std::int64_t k) {
  Case c{.op = op, .a = dtype, .b = dtype, .out = dtype, .m = m, .n = n, .k = k};
  if (dtype == Dtype::tf32) {
    c.a = c.b = c.out = Dtype::fp32;
    c.compute = Dtype::tf32;
  }
  if (op == Op::dot || op == Op::mma) c.out = Dtype::fp32;
  if ((op == Op::gemv || op == Op::gemm) && is_fp8(dtype)) c.out = Dtype::bf16;
  if (op == Op::gemm) c.layout = Layout::tn;
  return c;
}

Dtype input_dtype(const Case& c) { return c.compute == Dtype::tf32 ? Dtype::tf32 : c.a; }

std::string dtype_label(const Case& c) {
  if (c.a == c.b) return std::string(name(input_dtype(c)));
  return fmt::format("{}*{}", name(c.a), name(c.b));
}

std::string shape_label(const Case& c) {
  if (info(c.op).dims == 1) return fmt::format("{}", c.n);
  if (info(c.op).dims == 2) return fmt::format("{}x{}", c.m, c.n);
  const std::string shape = fmt::format("{}x{}x{}", c.m, c.n, c.k);
  return c.batch == 1 ? shape : fmt::format("{}x{}", c.batch, shape);
}

std::string name(const Case& c) {
  const std::string base = fmt::format("{}/{}/{}", name(c.op), dtype_label(c), shape_label(c));
  const bool default_layout = c.layout == Layout::none || c.layout == Layout::tn;
  return default_layout ? base : fmt::format("{}/{}", base, name(c.layout));
}

Pipe pipe(const Case& c) {
  switch (c.op) {
    case Op::empty:
    case Op::read:
    case Op::write:
    case Op::copy:
    case Op::h2d:
    case Op::d2h:
      return Pipe::none;
    case Op::mma:
      return Pipe::matrix;
    case Op::gemm:
      return c.a == Dtype::fp32 && c.compute == Dtype::fp32 ? Pipe::vector : Pipe::matrix;
    default:
      return Pipe::vector;
  }
}

bool crosses_link(Op op) { return op == Op::h2d || op == Op::d2h; }

Cost cost(const Case& c) {
  const auto m = static_cast<double>(c.m), n = static_cast<double>(c.n);
  const auto k = static_cast<double>(c.k), batch = static_cast<double>(c.batch);
  const Bytes a{bytes_per_element(c.a)}, b{bytes_per_element(c.b)}, out{bytes_per_element(c.out)};
  switch (c.op) {
    case Op::empty:
      return {};
    case Op::read:
    case Op::h2d:
      return {Flops{}, n * a, Bytes{}};
    case Op::write:
    case Op::d2h:
      return {Flops{}, Bytes{}, n * out};
    case Op::copy:
      return {Flops{}, n * a, n * out};
    case Op::triad:
      return {Flops{2 * n}, n * a + n * b, n * out};
    case Op::fma:
      return {Flops{2 * m * n}, n * a, n * out};
    case Op::mma:
      return {Flops{2 * m * n * k}, Bytes{}, n * out};
    case Op::relu:
      return {Flops{n}, n * a, n * out};
    case Op::gelu:
    case Op::gelu_erf:
      return {Flops{20 * n}, n * a, n * out};
    case Op::dot:
      return {Flops{2 * n}, n * a + n * b, out};
    case Op::gemv:
      return {Flops{2 * m * n}, m * n * a + n * b, m * out};
    case Op::gemm:
      return {Flops{2 * batch * m * n * k}, batch * (m * k * a + k * n * b), batch * m * n * out};
  }
  return {};
}

}  // namespace roofline
