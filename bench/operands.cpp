#include "bench/operands.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace bench {
namespace {

using roofline::Case;
using roofline::Dtype;
using roofline::Layout;
using roofline::Op;

Matrix matrix(roofline::Dtype dtype, std::int64_t rows, std::int64_t columns) {
  return {dtype, rows, columns, columns};
}

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

/// a b, or the most where that is more: either is more than any memory holds.
std::int64_t times(std::int64_t a, std::int64_t b) { return a > kMost / b ? kMost : a * b; }

/// Rows start at multiples of 16 bytes, as vector loads need them.
Matrix padded(Matrix m) {
  const auto lanes = static_cast<std::int64_t>(16 / bytes_per_element(m.dtype));
  m.stride = m.columns > kMost - lanes ? kMost : (m.columns + lanes - 1) / lanes * lanes;
  return m;
}

}  // namespace

std::size_t Matrix::bytes() const {
  return static_cast<std::size_t>(static_cast<double>(elements()) * bytes_per_element(dtype));
}

double OperandShapes::bytes() const {
  double bytes = 0;
  for (const Matrix& m : {a, b, out}) {
    bytes +=
        static_cast<double>(m.rows) * static_cast<double>(m.stride) * bytes_per_element(m.dtype);
  }
  return bytes;
}

OperandShapes operand_shapes(const Case& c) {
  const Matrix a = matrix(c.a, 1, c.n), out = matrix(c.out, 1, c.n);
  switch (c.op) {
    case Op::empty:
      return {};
    case Op::read:
    case Op::d2h:
      return {.a = a};
    case Op::write:
    case Op::mma:
    case Op::h2d:
      return {.out = out};
    case Op::copy:
    case Op::fma:
    case Op::relu:
    case Op::gelu:
    case Op::gelu_erf:
      return {.a = a, .out = out};
    case Op::triad:
      return {.a = a, .b = matrix(c.b, 1, c.n), .out = out};
    case Op::dot:
      return {.a = a, .b = matrix(c.b, 1, c.n), .out = matrix(c.out, 1, 1)};
    case Op::gemv:
      return {.a = padded(matrix(c.a, c.m, c.n)),
              .b = matrix(c.b, 1, c.n),
              .out = matrix(c.out, 1, c.m)};
    case Op::gemm: {
      const bool x_transposed = c.layout == Layout::nt, w_transposed = c.layout == Layout::tn;
      const auto stacked = [&](Dtype dtype, std::int64_t rows, std::int64_t columns) {
        return matrix(dtype, times(c.batch, rows), columns);
      };
      return {.a = x_transposed ? stacked(c.a, c.k, c.m) : stacked(c.a, c.m, c.k),
              .b = w_transposed ? stacked(c.b, c.n, c.k) : stacked(c.b, c.k, c.n),
              .out = stacked(c.out, c.m, c.n)};
    }
  }
  return {};
}

int cold_copies(double set_bytes, double cache_bytes) {
  constexpr double kMost = 4096;  // as many launches as a graph of one rotation has nodes
  if (set_bytes <= 0 || set_bytes > 8 * cache_bytes) return 1;
  return static_cast<int>(std::clamp(std::ceil(3 * cache_bytes / set_bytes), 2.0, kMost));
}

Matrix largest_input(const OperandShapes& shapes) {
  return shapes.b.bytes() > shapes.a.bytes() ? shapes.b : shapes.a;
}

std::uint64_t seed_of_a(const Data& data) { return data.seed; }
std::uint64_t seed_of_b(const Data& data) { return ~data.seed; }

Operands::Operands(const Case& c, int copies, const Data& data, Device& device)
    : shapes_(operand_shapes(c)), data_(data), count_(copies) {
  refill(device);
}

Operands::Operands(const Case& roof, std::shared_ptr<Operands> of)
    : shapes_(operand_shapes(roof)), data_(of->data_), of_(std::move(of)) {
  share();
  count_ = static_cast<int>(copies_.size());
}

void Operands::refill(Device& device) {
  if (!copies_.empty()) return;
  if (of_ != nullptr) {
    of_->refill(device);
    return share();
  }
  const double asked = shapes_.bytes() * count_, free = device.free_bytes();
  if (asked > free) throw OutOfMemory(asked, free);
  const auto filled = [&](const Matrix& m, std::uint64_t seed) {
    if (m.rows == 0) return Memory();
    Memory memory = device.allocate(m.bytes());
    device.fill(memory.get(), m.dtype, data_.kind, seed, m.elements());
    return memory;
  };
  std::vector<Copy> copies;  // all or none: who shares them asks whether there are any
  for (int i = 0; i < count_; ++i) {
    Copy copy{.a = filled(shapes_.a, seed_of_a(data_)), .b = filled(shapes_.b, seed_of_b(data_))};
    if (shapes_.out.rows > 0) {
      copy.out = device.allocate(shapes_.out.bytes());
      device.poison(copy.out.get(), shapes_.out.bytes());  // and makes its pages resident
    }
    copies.push_back(std::move(copy));
  }
  copies_ = std::move(copies);
}

void Operands::share() {
  const std::size_t bytes = largest_input(of_->shapes_).bytes();
  const bool reads_a = of_->shapes_.a.bytes() == bytes, reads_b = of_->shapes_.b.bytes() == bytes;
  if (!reads_a) data_.seed = seed_of_b(of_->data_);
  for (const Copy& copy : of_->copies_) {
    if (reads_a) copies_.push_back({.a = copy.a, .b = nullptr, .out = copy.out});
    if (reads_b) copies_.push_back({.a = copy.b, .b = nullptr, .out = copy.out});
  }
}

}  // namespace bench
