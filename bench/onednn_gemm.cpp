// GEMMs of oneDNN on the cpu: what the cpu backend measures its matrix products with.
#include "bench/onednn_gemm.h"

#include <fmt/format.h>

#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>

#include "bench/implementation.h"

namespace bench {
namespace {

using dnnl::memory;
using roofline::Case;
using roofline::Dtype;
using roofline::Layout;
using roofline::Op;

bool offers(Op op, const Device& /*device*/) { return op == Op::gemm; }

std::optional<memory::data_type> data_type(Dtype dtype) {
  if (dtype == Dtype::fp32) return memory::data_type::f32;
  if (dtype == Dtype::bf16) return memory::data_type::bf16;
  return std::nullopt;
}

/// A batch of row-major matrices [rows, columns], or of their transposes as they lie in memory. One
/// alone has two dimensions: a batch of one is slower, by 2 % at n = 2048, by 10 % at n = 384.
memory::desc matrix(const Case& c, std::int64_t rows, std::int64_t columns, Dtype dtype,
                    bool transposed) {
  memory::dims sizes = {rows, columns};
  memory::dims strides = transposed ? memory::dims{1, rows} : memory::dims{columns, 1};
  if (c.batch > 1) {
    sizes.insert(sizes.begin(), c.batch);
    strides.insert(strides.begin(), rows * columns);
  }
  return {sizes, *data_type(dtype), strides};
}

struct Descriptors {
  memory::desc x, w, y;
};

Descriptors descriptors(const Case& c) {
  return {.x = matrix(c, c.m, c.k, c.a, c.layout == Layout::nt),
          .w = matrix(c, c.k, c.n, c.b, c.layout == Layout::tn),
          .y = matrix(c, c.m, c.n, c.out, false)};
}

dnnl::matmul::primitive_desc describe(const Case& c, const dnnl::engine& engine) {
  const Descriptors d = descriptors(c);
#if DNNL_VERSION_MAJOR >= 3
  return {engine, d.x, d.w, d.y};
#else
  return {dnnl::matmul::desc(d.x, d.w, d.y), engine};
#endif
}

/// "jit:avx512_core_bf16" names the instructions; a reference implementation is not worth a number.
std::optional<std::string> refuses(const Case& c, const Device& device) {
  if (c.compute == Dtype::tf32) return "tf32 is a type of NVIDIA's tensor cores";
  if (!data_type(c.a) || !data_type(c.b)) {
    return fmt::format("oneDNN multiplies fp32 and bf16 on a cpu, not {}", dtype_label(c));
  }
  // Left to the check of memory. oneDNN's products of sizes overflow: 2.6 divides by 0 at 2^60
  // rows.
  if (operand_shapes(c).bytes() > device.free_bytes()) return std::nullopt;
  try {
    const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
    const std::string by = describe(c, engine).impl_info_str();
    if (by.starts_with("ref")) {
      return fmt::format("oneDNN has only its reference loop for {} on this cpu ({})",
                         dtype_label(c), by);
    }
  } catch (const dnnl::error& e) {
    return fmt::format("oneDNN has no {} matmul on this cpu: {}", dtype_label(c), e.message);
  }
  return std::nullopt;
}

std::vector<Alternatives> variants(const Case& /*c*/, Device& /*device*/) { return {{"matmul"}}; }

Work prepare(const Case& c, const std::string& /*variant*/, const Operands& operands,
             Device& /*device*/) {
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  const auto stream = std::make_shared<dnnl::stream>(engine);
  const auto description = describe(c, engine);
  const auto matmul = std::make_shared<dnnl::matmul>(description);
  const Descriptors d = descriptors(c);
  using Arguments = std::unordered_map<int, memory>;
  const auto copies = std::make_shared<std::vector<Arguments>>();
  for (int i = 0; i < operands.copies(); ++i) {
    copies->push_back({{DNNL_ARG_SRC, memory(d.x, engine, operands[i].a.get())},
                       {DNNL_ARG_WEIGHTS, memory(d.w, engine, operands[i].b.get())},
                       {DNNL_ARG_DST, memory(d.y, engine, operands[i].out.get())}});
  }
  Work work;
  work.launch = [matmul, stream, copies](int copy) {
    matmul->execute(*stream, (*copies)[static_cast<std::size_t>(copy)]);
    stream->wait();
  };
  work.numerical_impl = description.impl_info_str();
  return work;
}

}  // namespace

const Implementation kOneDnn{names::kOneDnn, "cpu", &offers, &refuses, &variants, &prepare};

std::string onednn_version() {
  const dnnl_version_t& version = *dnnl_version();
  return fmt::format("{}.{}.{}", version.major, version.minor, version.patch);
}

}  // namespace bench
