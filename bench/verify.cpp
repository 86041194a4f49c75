#include "bench/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <span>
#include <vector>

namespace bench {
namespace {

using roofline::Case;
using roofline::Dtype;
using roofline::Op;

// ---- reading device memory
// -----------------------------------------------------------------------

/// The value of each code, of 8 or 16 bits. Made once: it takes 2 ms, and a check looks at hundreds
/// of places, each apart.
const std::vector<double>& values_of(Dtype dtype) {
  static std::map<Dtype, std::vector<double>> tables;
  std::vector<double>& values = tables[dtype];
  if (values.empty()) {
    values.resize(std::size_t{1} << roofline::format(dtype).bits());
    for (std::size_t code = 0; code < values.size(); ++code) {
      values[code] = roofline::decode(dtype, code);
    }
  }
  return values;
}

/// Decodes storage of one dtype; a table does it for 8 and 16 bits, at 1 ns an element.
class Decoder {
 public:
  explicit Decoder(Dtype dtype) : bits_(roofline::format(dtype).bits()) {
    if (bits_ <= 16) values_ = values_of(dtype);
  }

  double at(const std::byte* data, std::int64_t i) const {
    if (bits_ == 8) return values_[std::to_integer<std::size_t>(data[i])];
    if (bits_ == 16) {
      std::uint16_t code = 0;
      std::memcpy(&code, data + 2 * i, 2);
      return values_[code];
    }
    std::uint32_t code = 0;
    std::memcpy(&code, data + 4 * i, 4);
    return std::bit_cast<float>(code);
  }

 private:
  int bits_;
  std::span<const double> values_;
};

std::vector<std::byte> download(const Memory& memory, std::size_t offset, std::size_t bytes,
                                Device& device) {
  std::vector<std::byte> host(bytes);
  device.download(host.data(), static_cast<const std::byte*>(memory.get()) + offset, bytes);
  return host;
}

/// Elements [first, first + count) of a matrix in device memory.
std::vector<double> elements(const Memory& memory, const Matrix& m, std::int64_t first,
                             std::int64_t count, Device& device) {
  const auto size = static_cast<std::int64_t>(bytes_per_element(m.dtype));
  const auto host = download(memory, static_cast<std::size_t>(first * size),
                             static_cast<std::size_t>(count * size), device);
  const Decoder decoder(m.dtype);
  std::vector<double> values(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i)
    values[static_cast<std::size_t>(i)] = decoder.at(host.data(), i);
  return values;
}

struct Stretch {
  std::int64_t first, count;
};

/// Where to look among n elements: everything up to 2^16, else both ends and 256 places between.
std::vector<Stretch> stretches(std::int64_t n) {
  constexpr std::int64_t kWhole = 1 << 16, kEdge = 1 << 12, kPlaces = 256, kLength = 64;
  if (n <= kWhole) return {{0, n}};
  std::vector<Stretch> all = {{0, kEdge}, {n - kEdge, kEdge}};
  for (std::int64_t i = 0; i < kPlaces; ++i) {
    const auto anywhere =
        static_cast<std::int64_t>(kernels::input_key(0, static_cast<std::uint32_t>(i)) >> 1);
    all.push_back({anywhere % (n - kLength), kLength});
  }
  return all;
}

// ---- comparing
// -----------------------------------------------------------------------------------

/// The gap between representable values around `value`.
double ulp(Dtype dtype, double value) {
  const int exponent = value == 0 ? -2000 : std::ilogb(value);
  return std::max(std::ldexp(roofline::epsilon(dtype), exponent),
                  roofline::smallest_subnormal(dtype));
}

/// Keeps the worst of many comparisons. An error that is NaN is worse than any number.
class Worst {
 public:
  explicit Worst(const Case& c) {
    const Tolerance limit = tolerance(c);
    result_.metric = limit.metric;
    result_.tolerance = limit.value;
  }
  void add(std::int64_t index, double got, double expected, double error) {
    if (std::isnan(got) && std::isnan(expected)) return;
    if (got == expected) error = 0;  // infinities
    if (error <= result_.max_error || std::isnan(result_.max_error)) return;
    result_.max_error = error;
    result_.where = fmt::format("output {} is {}, expected {}", index, got, expected);
  }
  Verification result() const { return result_; }

 private:
  Verification result_;
};

// ---- references, in fp64, from the definition
// ----------------------------------------------------

double gelu_tanh(double x) {
  constexpr double kSqrt2OverPi = 0.79788456080286535588;
  return 0.5 * x * (1 + std::tanh(kSqrt2OverPi * (x + 0.044715 * x * x * x)));
}
double gelu_erf(double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); }

double elementwise(const Case& c, double a, double b) {
  switch (c.op) {
    case Op::relu:
      return std::isnan(a) ? a : std::max(a, 0.0);
    case Op::gelu:
      return gelu_tanh(a);
    case Op::gelu_erf:
      return gelu_erf(a);
    case Op::triad:
      return a + 3 * b;
    case Op::write:
      return 1;
    case Op::mma:  // four of its steps, which take turns, add 1
      return static_cast<double>(c.m) / 4;
    default:  // copy; fma, which takes a to 1 - a and back
      return a;
  }
}

void check_elementwise(const Case& c, const Operands& operands, Device& device, Worst& worst) {
  const auto& [a, b, out] = operands.shapes();
  for (const Stretch& stretch : stretches(c.n)) {
    const std::int64_t first = stretch.first, count = stretch.count;
    const auto read = [&](const Memory& memory, const Matrix& m) {
      return m.rows == 0 ? std::vector<double>(static_cast<std::size_t>(count))
                         : elements(memory, m, first, count, device);
    };
    const auto x = read(operands[0].a, a), y = read(operands[0].b, b),
               got = read(operands[0].out, out);
    for (std::size_t i = 0; i < got.size(); ++i) {
      double expected = elementwise(c, x[i], y[i]);
      if (const double most = roofline::max_finite(c.out);
          std::fabs(expected) > most && std::isfinite(x[i])) {
        expected = std::copysign(c.out == Dtype::fp8_e4m3 || c.out == Dtype::fp8_e5m2
                                     ? most
                                     : std::numeric_limits<double>::infinity(),
                                 expected);
      }
      // The argument's own share: tanh.approx is good to 2^-11 of 1, and 0.5 x scales it.
      const bool gelu = c.op == Op::gelu || c.op == Op::gelu_erf;
      const double unit = ulp(c.out, expected) + (gelu ? std::ldexp(std::fabs(x[i]), -11) : 0);
      worst.add(first + static_cast<std::int64_t>(i), got[i], expected,
                std::fabs(got[i] - expected) / unit);
    }
  }
}

/// The 32-bit words of n bytes, XORed, in pieces that fit in memory.
std::uint32_t xor_words(const Memory& memory, std::size_t bytes, Device& device) {
  constexpr std::size_t kPiece = 64 << 20;
  std::uint32_t all = 0;
  for (std::size_t offset = 0; offset < bytes; offset += kPiece) {
    std::vector<std::byte> host =
        download(memory, offset, std::min(kPiece, bytes - offset), device);
    host.resize((host.size() + 3) / 4 * 4);  // padded with zero bits to a whole word
    for (std::size_t i = 0; i < host.size(); i += 4) {
      std::uint32_t word = 0;
      std::memcpy(&word, &host[i], 4);
      all ^= word;
    }
  }
  return all;
}

void check_read(const Work& work, const Operands& operands, Device& device, Worst& worst) {
  const std::uint32_t expected = xor_words(operands[0].a, operands.shapes().a.bytes(), device);
  const std::uint32_t got =
      xor_words(work.workspace, static_cast<std::size_t>(work.workspace_bytes.value_or(0)), device);
  worst.add(0, got, expected, std::popcount(got ^ expected));
}

void check_dot(const Case& c, const Operands& operands, Device& device, Worst& worst) {
  constexpr std::int64_t kPiece = 16 << 20;
  double sum = 0, squares = 0;
  for (std::int64_t first = 0; first < c.n; first += kPiece) {
    const std::int64_t count = std::min(kPiece, c.n - first);
    const auto x = elements(operands[0].a, operands.shapes().a, first, count, device);
    const auto y = elements(operands[0].b, operands.shapes().b, first, count, device);
    for (std::size_t i = 0; i < x.size(); ++i) {
      sum += x[i] * y[i];
      squares += x[i] * x[i] * y[i] * y[i];
    }
  }
  const double got = elements(operands[0].out, operands.shapes().out, 0, 1, device)[0];
  worst.add(0, got, sum, std::fabs(got - sum) / std::max(std::sqrt(squares), std::fabs(sum)));
}

/// The same check for GEMV and GEMM: outputs that are inner products, in units of the root mean
/// square of all the sums seen.
class Outputs {
 public:
  void add(std::int64_t index, double got, double expected, double squares) {
    outputs_.push_back({index, got, expected});
    squares_ += squares;
  }
  void report(Worst& worst) const {
    const double rms = std::sqrt(squares_ / static_cast<double>(outputs_.size()));
    for (const auto& [index, got, expected] : outputs_) {
      // Past 5 rms, which only inputs of one sign reach, an output's own rounding grows with it.
      const double scale = std::max(rms, std::fabs(expected) / 5);
      worst.add(index, got, expected, std::fabs(got - expected) / scale);
    }
  }

 private:
  struct Row {
    std::int64_t index;
    double got, expected;
  };
  std::vector<Row> outputs_;
  double squares_ = 0;
};

void check_gemv(const Case& c, const Operands& operands, Device& device, Worst& worst) {
  constexpr std::int64_t kRows = 512;
  const auto& [a, x, y] = operands.shapes();
  const auto vector = elements(operands[0].b, x, 0, c.n, device);
  Outputs outputs;
  for (std::int64_t i = 0; i < std::min(c.m, kRows); ++i) {
    // Both edges, and evenly between.
    const std::int64_t row = c.m <= kRows ? i : i * (c.m - 1) / (kRows - 1);
    const auto weights = elements(operands[0].a, a, row * a.stride, c.n, device);
    double sum = 0, squares = 0;
    for (std::size_t j = 0; j < vector.size(); ++j) {
      sum += weights[j] * vector[j];
      squares += weights[j] * weights[j] * vector[j] * vector[j];
    }
    outputs.add(row, elements(operands[0].out, y, row, 1, device)[0], sum, squares);
  }
  outputs.report(worst);
}

/// Inputs as they lie in memory, made anew: kernels::input() rounded to the dtype.
class Inputs {
 public:
  Inputs(Dtype dtype, kernels::InputKind kind, std::uint64_t seed)
      : dtype_(dtype), kind_(kind), seed_(seed) {}
  double operator()(std::int64_t index) const {
    const double exact = kernels::input(kind_, seed_, index);
    return roofline::decode(dtype_, roofline::encode(dtype_, exact, roofline::Overflow::saturate));
  }

 private:
  Dtype dtype_;
  kernels::InputKind kind_;
  std::uint64_t seed_;
};

/// A transfer's destination, in host or device memory, against the inputs.
void check_transfer(const Case& c, const Work& work, const Operands& operands, Device& device,
                    Worst& worst) {
  const auto& [a, b, out] = operands.shapes();
  const Inputs expected(c.a, operands.data().kind, seed_of_a(operands.data()));
  const Decoder decoder(c.out);
  if (c.op == Op::d2h) (void)elements(operands[0].a, a, 0, 1, device);  // waits for the copy
  for (const auto& [first, count] : stretches(c.n)) {
    std::vector<double> got;
    if (c.op == Op::h2d) got = elements(operands[0].out, out, first, count, device);
    for (std::int64_t i = 0; i < count; ++i) {
      if (c.op == Op::d2h) {
        got.push_back(decoder.at(static_cast<const std::byte*>(work.host.get()), first + i));
      }
      const double value = got[static_cast<std::size_t>(i)], exact = expected(first + i);
      worst.add(first + i, value, exact, std::fabs(value - exact) / ulp(c.out, exact));
    }
  }
}

struct Output {
  std::int64_t batch, row, column;
};

/// All outputs up to 2^10 of them; else the corners of the first and the last batch, and one place
/// in every tile row, tile column and batch.
std::vector<Output> sampled_outputs(const Case& c) {
  std::vector<Output> all;
  if (c.batch * c.m * c.n <= 1 << 10) {
    for (std::int64_t i = 0; i < c.batch * c.m * c.n; ++i) {
      all.push_back({i / (c.m * c.n), i / c.n % c.m, i % c.n});
    }
    return all;
  }
  for (const std::int64_t batch : {std::int64_t{0}, c.batch - 1}) {
    for (const std::int64_t row : {std::int64_t{0}, c.m - 1}) {
      for (const std::int64_t column : {std::int64_t{0}, c.n - 1}) {
        all.push_back({batch, row, column});
      }
    }
  }
  constexpr std::int64_t kTile = 128;
  const std::int64_t rows = (c.m + kTile - 1) / kTile, columns = (c.n + kTile - 1) / kTile;
  for (std::int64_t i = 0; i < std::max({rows, columns, c.batch}); ++i) {
    const std::uint64_t anywhere = kernels::input_key(1, static_cast<std::uint32_t>(i));
    const auto in_tile = [&](std::int64_t tile, std::int64_t size, int shift) {
      const auto offset = static_cast<std::int64_t>(anywhere >> shift) & (kTile - 1);
      return std::min(tile * kTile + offset, size - 1);
    };
    all.push_back({i % c.batch, in_tile(i % rows, c.m, 0), in_tile(i % columns, c.n, 8)});
  }
  return all;
}

void check_gemm(const Case& c, const Operands& operands, Device& device, Worst& worst) {
  // tf32 rounds its inputs to 10 bits of mantissa; those of this project fit, so nothing changes.
  const Inputs x(c.a, operands.data().kind, seed_of_a(operands.data()));
  const Inputs w(c.b, operands.data().kind, seed_of_b(operands.data()));
  const bool x_along_k = c.layout != roofline::Layout::nt;
  const bool w_along_k = c.layout == roofline::Layout::tn;
  Outputs outputs;
  for (const auto& [batch, row, column] : sampled_outputs(c)) {
    const std::int64_t first_x = batch * c.m * c.k, first_w = batch * c.n * c.k;
    double sum = 0, squares = 0;
    for (std::int64_t i = 0; i < c.k; ++i) {
      const double product = x(first_x + (x_along_k ? row * c.k + i : i * c.m + row)) *
                             w(first_w + (w_along_k ? column * c.k + i : i * c.n + column));
      sum += product;
      squares += product * product;
    }
    const std::int64_t index = (batch * c.m + row) * c.n + column;
    outputs.add(index, elements(operands[0].out, operands.shapes().out, index, 1, device)[0], sum,
                squares);
  }
  outputs.report(worst);
}

/// Every output has been written, and with a number: a tile left out would still be poisoned.
void check_no_nan(const Case& c, const Operands& operands, Device& device, Worst& worst) {
  constexpr std::int64_t kPiece = 64 << 20;
  const Matrix& out = operands.shapes().out;
  const Decoder decoder(c.out);
  const auto size = static_cast<std::int64_t>(bytes_per_element(c.out));
  for (std::int64_t first = 0; first < out.elements(); first += kPiece / size) {
    const std::int64_t count = std::min(kPiece / size, out.elements() - first);
    const auto host = download(operands[0].out, static_cast<std::size_t>(first * size),
                               static_cast<std::size_t>(count * size), device);
    for (std::int64_t i = 0; i < count; ++i) {
      const double value = decoder.at(host.data(), i);
      if (std::isnan(value)) return worst.add(first + i, value, 0, value);
    }
  }
}

}  // namespace

Tolerance tolerance(const Case& c) {
  switch (c.op) {
    case Op::read:
      return {"wrong_bits", 0};
    case Op::empty:
    case Op::copy:
    case Op::write:
    case Op::relu:
    case Op::h2d:
    case Op::d2h:
    case Op::mma:  // sums of small multiples of 1/2
    case Op::fma:  // a <- 1 - a, twice, is exact for inputs that are multiples of 2^-10
      return {"ulp", 0};
    case Op::triad:  // one rounding in fp32, one to the storage type
      return {"ulp", 1};
    case Op::gelu:
    case Op::gelu_erf:  // a rounding, and what tanh.approx documents: see check_elementwise()
      return {"ulp_plus_tanh", 1};
    case Op::dot:
      // A chain of n fp32 additions of random signs errs by about 2^-25 sqrt(n / 2) of the sum's
      // own root mean square; every order of summation is a shorter chain.
      return {"rms", std::ldexp(std::sqrt(static_cast<double>(c.n)) + 2, -24)};
    case Op::gemv:
    case Op::gemm:
      break;
  }
  // Half an ulp of an output of 5 rms: 5 x 2^-9 in bf16, 5 x 2^-12 in fp16; above it, products of
  // FP8 are summed with about 14 bits on Hopper.
  if (c.a == Dtype::fp8_e4m3 || c.a == Dtype::fp8_e5m2) return {"rms", 4e-2};
  if (c.compute == Dtype::tf32) return {"rms", 2e-3};
  if (c.out == Dtype::bf16) return {"rms", 2.5e-2};
  if (c.out == Dtype::fp16) return {"rms", 5e-3};
  const auto terms = static_cast<double>(c.op == Op::gemv ? c.n : c.k);
  return {"rms", std::max(3e-7 * std::sqrt(terms), 1e-6)};  // 2^-24 of 5 rms at the least
}

Verification verify_inputs(const Operands& operands, Device& device) {
  Verification result{.metric = "wrong_inputs", .tolerance = 0};
  const auto check = [&](const Matrix& m, const Memory& memory, std::uint64_t seed,
                         bool ends_only) {
    if (m.rows == 0) return;
    const Inputs expected(m.dtype, operands.data().kind, seed);
    const std::int64_t n = m.elements(), edge = std::min<std::int64_t>(n, 16);
    const std::vector<Stretch> ends = {{0, edge}, {n - edge, edge}};
    for (const auto& [first, count] : ends_only ? ends : stretches(n)) {
      const auto got = elements(memory, m, first, count, device);
      for (std::int64_t i = 0; i < count; ++i) {
        const double value = got[static_cast<std::size_t>(i)];
        if (value == expected(first + i)) continue;
        result.max_error += 1;
        result.where =
            fmt::format("input {} is {}, expected {}", first + i, value, expected(first + i));
      }
    }
  };
  for (int i = 0; i < operands.copies(); ++i) {
    check(operands.shapes().a, operands[i].a, seed_of_a(operands.data()), i > 0);
    check(operands.shapes().b, operands[i].b, seed_of_b(operands.data()), i > 0);
  }
  return result;
}

Verification verify(const Case& c, const Work& work, const Operands& operands, Device& device) {
  if (operands.shapes().out.rows > 0) {
    device.poison(operands[0].out.get(), operands.shapes().out.bytes());
  }
  if (work.workspace) {
    device.poison(work.workspace.get(), static_cast<std::size_t>(*work.workspace_bytes));
  }
  work.launch(0);

  Worst worst(c);
  switch (c.op) {
    case Op::empty:
      break;
    case Op::read:
      check_read(work, operands, device, worst);
      break;
    case Op::dot:
      check_dot(c, operands, device, worst);
      break;
    case Op::gemv:
      check_gemv(c, operands, device, worst);
      break;
    case Op::gemm:
      check_gemm(c, operands, device, worst);
      break;
    case Op::h2d:
    case Op::d2h:
      check_transfer(c, work, operands, device, worst);
      break;
    default:
      check_elementwise(c, operands, device, worst);
  }
  if (operands.shapes().out.rows > 0) check_no_nan(c, operands, device, worst);
  return worst.result();
}

}  // namespace bench
