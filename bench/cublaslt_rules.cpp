#include "bench/cublaslt_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

namespace bench {
namespace {

using roofline::Case;
using roofline::Dtype;
using roofline::Layout;

/// Operand types that multiply, the outputs they can have, and the first GPU that does it.
struct Product {
  Dtype x, w, compute;
  std::vector<Dtype> outputs;
  int major, minor;
};

const std::vector<Product>& products() {
  using enum Dtype;
  static const std::vector<Product> all{
      {fp32, fp32, fp32, {fp32}, 7, 5},
      {fp32, fp32, tf32, {fp32}, 8, 0},  // older GPUs would compute it in fp32 and not say so
      {fp16, fp16, fp32, {fp16, fp32}, 7, 5},
      {bf16, bf16, fp32, {bf16, fp32}, 8, 0},
      {fp8_e4m3, fp8_e4m3, fp32, {bf16, fp16, fp32}, 8, 9},
      {fp8_e4m3, fp8_e5m2, fp32, {bf16, fp16, fp32}, 8, 9},
      {fp8_e5m2, fp8_e4m3, fp32, {bf16, fp16, fp32}, 8, 9},
  };
  return all;
}

const Product* find_product(const Case& c) {
  const auto found = std::ranges::find_if(products(), [&](const Product& p) {
    return p.x == c.a && p.w == c.b && p.compute == c.compute;
  });
  return found == products().end() ? nullptr : &*found;
}

bool is_fp8(Dtype t) { return t == Dtype::fp8_e4m3 || t == Dtype::fp8_e5m2; }

/// A size that lies contiguous in some operand.
struct Extent {
  std::string_view ours, cublas;
  std::int64_t Case::*size;
  std::int64_t multiple;  // the elements in 16 bytes of the widest operand it is contiguous in
};

/// cuBLASLt computes the column-major transpose, so that its m is N and its n is M.
std::vector<Extent> aligned_extents(const Case& c) {
  const auto lanes = [](Dtype t) { return static_cast<std::int64_t>(16 / bytes_per_element(t)); };
  std::vector<Extent> all{
      {"M", "n", &Case::m, 1}, {"N", "m", &Case::n, 1}, {"K", "k", &Case::k, 1}};
  const auto contiguous = [&](std::size_t extent, Dtype t) {
    all[extent].multiple = std::max(all[extent].multiple, lanes(t));
  };
  contiguous(c.layout == Layout::nt ? 0 : 2, c.a);  // X: [K, M] in nt, else [M, K]
  contiguous(c.layout == Layout::tn ? 2 : 1, c.b);  // W: [N, K] in tn, else [K, N]
  contiguous(1, c.out);                             // Y: [M, N]
  return all;
}

std::optional<std::string> illegal_types(const Case& c) {
  const Product* const product = find_product(c);
  if (product == nullptr && c.a == Dtype::fp8_e5m2 && c.b == Dtype::fp8_e5m2) {
    return "cuBLASLt does not multiply E5M2 by E5M2; one operand must be fp8_e4m3";
  }
  if (product == nullptr) {
    return fmt::format("cuBLASLt does not multiply {} by {} in {}", name(c.a), name(c.b),
                       name(c.compute));
  }
  if (std::ranges::find(product->outputs, c.out) == product->outputs.end()) {
    std::vector<std::string_view> legal;
    for (const Dtype t : product->outputs) legal.push_back(name(t));
    return fmt::format("an output in {}, expected {}", name(c.out), fmt::join(legal, ", "));
  }
  return std::nullopt;
}

/// `c` has legal types.
std::optional<std::string> illegal_device(const Case& c, const roofline::DeviceFacts& device) {
  const Product& p = *find_product(c);
  if (std::pair(device.compute_major, device.compute_minor) < std::pair(p.major, p.minor)) {
    return fmt::format("needs compute capability {}.{}, this GPU has {}.{}", p.major, p.minor,
                       device.compute_major, device.compute_minor);
  }
  if (is_fp8(c.a) && c.layout != Layout::tn && device.compute_major != 10) {
    return fmt::format(
        "FP8 needs layout tn, X [M, K] and W [N, K] both K-contiguous, on compute capability {}.{}",
        device.compute_major, device.compute_minor);
  }
  return std::nullopt;
}

std::optional<std::string> illegal_shape(const Case& c) {
  if (!is_fp8(c.a)) return std::nullopt;  // the others are only slower where rows are unaligned
  std::vector<std::string> faults;
  Case next = c;
  for (const Extent& e : aligned_extents(c)) {
    if (c.*e.size % e.multiple == 0) continue;
    next.*e.size = (c.*e.size / e.multiple + 1) * e.multiple;
    faults.push_back(fmt::format("{} = {} (cuBLAS {}) must be a multiple of {}", e.ours, c.*e.size,
                                 e.cublas, e.multiple));
  }
  if (faults.empty()) return std::nullopt;
  return fmt::format("{}; the next legal shape is M={} N={} K={}", fmt::join(faults, ", "), next.m,
                     next.n, next.k);
}

}  // namespace

std::string describe_gemm(const Case& c) {
  return fmt::format("{}*{} -> {}, layout {}, M={} N={} K={} batch={}", name(c.a), name(c.b),
                     name(c.out), name(c.layout), c.m, c.n, c.k, c.batch);
}

std::optional<std::string> gemm_refusal(const Case& c, const roofline::DeviceFacts& device) {
  if (c.op != roofline::Op::gemm) return "cuBLASLt computes GEMM only";
  std::optional<std::string> reason = illegal_types(c);
  if (!reason) reason = illegal_device(c, device);
  if (!reason) reason = illegal_shape(c);
  if (!reason) return std::nullopt;
  return fmt::format("{}: {}", describe_gemm(c), *reason);
}

}  // namespace bench
