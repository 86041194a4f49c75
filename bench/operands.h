// The operands of a case in device memory, in as many copies as keep it out of the caches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "bench/device.h"
#include "roofline/case.h"

namespace bench {

/// Where its inputs come from: kernels::input(kind, seed of the operand, index).
struct Data {
  kernels::InputKind kind = kernels::InputKind::normal;
  std::uint64_t seed = 1;
  bool operator==(const Data&) const = default;
};

/// One operand: rows x columns of `dtype`, each row `stride` elements after the last.
struct Matrix {
  roofline::Dtype dtype = roofline::Dtype::fp32;
  std::int64_t rows = 0, columns = 0, stride = 0;

  std::size_t bytes() const;
  std::int64_t elements() const { return rows * stride; }
  bool operator==(const Matrix&) const = default;
};

/// How the operands of a case lie in memory. Elementwise and dot: 1 x n. GEMV: a is [m, n] with
/// rows padded to 16 bytes, b is x. GEMM, batch stacked by rows: a is X, b is W, as the layout
/// keeps them (tn: X [m, k], W [n, k]; nn: X [m, k], W [k, n]; nt: X [k, m], W [k, n]). H2D, D2H:
/// 1 x n on the device's side, out or a. rows = 0: not used.
struct OperandShapes {
  Matrix a, b, out;
  /// As a double, which has room for what no memory has.
  double bytes() const;
  bool operator==(const OperandShapes&) const = default;
};
OperandShapes operand_shapes(const roofline::Case& c);

/// Copies that keep a cold case out of a cache of `cache_bytes`: at least 2, together at least
/// three caches; 1 where one copy alone exceeds eight caches, as consecutive launches then evict
/// each other.
int cold_copies(double set_bytes, double cache_bytes);

class Operands {
 public:
  struct Copy {
    Memory a, b, out;
  };

  /// Allocates and fills. The inputs of copy i have seed `data.seed` for every i: all copies hold
  /// the same values. Throws OutOfMemory.
  Operands(const roofline::Case& c, int copies, const Data& data, Device& device);

  /// In the memory of another case's: each largest_input() of `of` is a copy of what `roof` reads.
  /// What it writes, it writes where `of` does.
  Operands(const roofline::Case& roof, std::shared_ptr<Operands> of);

  /// Gives the memory back, until refill(), which fills memory as before. Throws OutOfMemory.
  void release() { copies_.clear(); }
  void refill(Device& device);

  const OperandShapes& shapes() const { return shapes_; }
  const Data& data() const { return data_; }
  int copies() const { return count_; }
  /// Whose memory it is; null for its own.
  const std::shared_ptr<Operands>& lender() const { return of_; }
  const Copy& operator[](int copy) const { return copies_[static_cast<std::size_t>(copy)]; }

 private:
  void share();

  OperandShapes shapes_;
  Data data_;
  int count_;
  std::vector<Copy> copies_;
  std::shared_ptr<Operands> of_;
};

/// What a memory-bound case spends its time on: its larger input, a where both are as large.
Matrix largest_input(const OperandShapes& shapes);

/// The seed of an operand: each has its own, so that a and b differ.
std::uint64_t seed_of_a(const Data& data);
std::uint64_t seed_of_b(const Data& data);

}  // namespace bench
