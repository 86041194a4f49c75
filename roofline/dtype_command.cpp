// `roofline dtype`: how a number format is laid out, and what becomes of a value in it.
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <utility>

#include "roofline/commands.h"
#include "roofline/dtype.h"

namespace roofline {
namespace {

/// The parts of a code, as binary digits or as letters.
struct Layout {
  std::string sign, exponent, mantissa;
};

Layout letters(const Format& f) {
  return {"s", std::string(f.exponent_bits, 'e'), std::string(f.mantissa_bits, 'm')};
}

Layout digits(const Format& f, std::uint64_t code) {
  const std::string all = fmt::format("{:0{}b}", code, f.bits());
  return {all.substr(0, 1), all.substr(1, f.exponent_bits), all.substr(1 + f.exponent_bits)};
}

std::string special_values(const Format& f) {
  switch (f.specials) {
    case Specials::ieee:
      return "inf nan";
    case Specials::nan_only:
      return "nan";
    case Specials::none:
      break;
  }
  return "none";
}

Table layouts(const std::vector<Dtype>& dtypes) {
  Table table;
  table.columns = {"dtype",        "sign",    "exponent", "mantissa",   "bits",
                   "storage_bits", "bias",    "max",      "min_normal", "min_subnormal",
                   "epsilon",      "special", "source"};
  for (const Dtype dtype : dtypes) {
    const Format& f = format(dtype);
    const Layout l = letters(f);
    table.rows.push_back({std::string(f.name), l.sign, l.exponent, l.mantissa,
                          std::int64_t{f.bits()}, f.storage_bits, std::int64_t{f.bias},
                          max_finite(dtype), smallest_normal(dtype), smallest_subnormal(dtype),
                          epsilon(dtype), special_values(f), std::string(f.source)});
  }
  return table;
}

/// VALUE as a number, or the number behind a code written as 0x...
double parse_value(Dtype dtype, const std::string& text) {
  const char* const end = text.data() + text.size();
  double value = 0;
  if (text.starts_with("0x")) {
    std::uint64_t code = 0;
    const auto [at, error] = std::from_chars(text.data() + 2, end, code, 16);
    const int bits = format(dtype).bits();
    if (error == std::errc() && at == end && (bits == 64 || code >> bits == 0)) {
      return decode(dtype, code);
    }
    throw std::invalid_argument(
        fmt::format("dtype: expected a code of {} bits, 0x0 to 0x{:x}; got \"{}\"", bits,
                    ~std::uint64_t{0} >> (64 - bits), text));
  }
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (at != end || text.empty() || error == std::errc::invalid_argument) {
    throw std::invalid_argument(
        fmt::format("dtype: expected a number or a code such as 0x7e, got \"{}\"", text));
  }
  if (error == std::errc::result_out_of_range) {
    throw std::invalid_argument(fmt::format(
        "dtype: expected a value within fp64, 4.94066e-324 to 1.79769e+308; got \"{}\"", text));
  }
  return value;
}

/// Infinity and NaN are values of a format here, not unknown.
Cell value_cell(double value) {
  if (std::isfinite(value)) return value;
  return std::string(std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
}

std::vector<Cell> stored_row(Dtype dtype, double value, std::uint64_t code, std::string overflow) {
  const Format& f = format(dtype);
  const Layout l = digits(f, code);
  const double stored = decode(dtype, code);
  const double error = stored - value;
  return {std::string(f.name),
          std::move(overflow),
          l.sign,
          l.exponent,
          l.mantissa,
          fmt::format("0x{:0{}x}", code, (f.bits() + 3) / 4),
          value_cell(stored),
          error,
          std::fabs(error / value),
          value_cell(next_below(dtype, stored)),
          value_cell(next_above(dtype, stored)),
          dtype == Dtype::fp64 ? Cell{} : Cell{smallest_subnormal(dtype) / 2}};
}

Table stored(const std::vector<Dtype>& dtypes, double value) {
  Table table;
  table.columns = {"dtype",          "overflow",   "sign",       "exponent",
                   "mantissa",       "code",       "value",      "error",
                   "relative_error", "next_below", "next_above", "rounds_to_zero_up_to"};
  table.digits = 9;  // enough to tell neighbours in fp32 apart
  for (const Dtype dtype : dtypes) {
    const std::uint64_t plain = encode(dtype, value, Overflow::to_infinity);
    const std::uint64_t saturated = encode(dtype, value, Overflow::saturate);
    if (plain == saturated) {
      table.rows.push_back(stored_row(dtype, value, plain, ""));
    } else {
      table.rows.push_back(stored_row(dtype, value, plain, "to_infinity"));
      table.rows.push_back(stored_row(dtype, value, saturated, "saturate"));
    }
  }
  return table;
}

}  // namespace

Command add_dtype_command(Arguments app) {
  struct Options {
    std::string name, value;
  };
  const auto options = std::make_shared<Options>();
  const Arguments command = app.add_subcommand(
      "dtype", "The layout of a number format beside fp32, or what becomes of a value in it");
  command.add_option("name", options->name,
                     "fp64 fp32 tf32 fp16 bf16 fp8_e4m3 fp8_e5m2 nvfp4; all if none");
  command.add_option("value", options->value, "a number, or the format's code as 0x...");
  const auto run = [options](Output& out) {
    std::vector<Dtype> dtypes;
    if (options->name.empty()) {
      for (const Format& f : formats()) dtypes.push_back(f.dtype);
    } else {
      dtypes.push_back(dtype_named(options->name));
      if (dtypes[0] != Dtype::fp32) dtypes.push_back(Dtype::fp32);
    }
    out.print(options->value.empty() ? layouts(dtypes)
                                     : stored(dtypes, parse_value(dtypes[0], options->value)));
    return 0;
  };
  return {command, run};
}

}  // namespace roofline
