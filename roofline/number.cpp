#include "roofline/number.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>
#include <span>
#include <stdexcept>

namespace roofline {
namespace {

struct Suffix {
  std::string_view text;
  double scale;
};

constexpr double kKi = 1024, kMi = kKi * kKi, kGi = kMi * kKi, kTi = kGi * kKi, kPi = kTi * kKi;

// clang-format off
constexpr Suffix kNone[] = {{"", 1}};
constexpr Suffix kCounts[] = {{"", 1}, {"k", 1e3}, {"M", 1e6}, {"B", 1e9}, {"T", 1e12}};
constexpr Suffix kSizes[] = {
    {"", 1},      {"kB", 1e3},  {"MB", 1e6},  {"GB", 1e9},  {"TB", 1e12},  {"PB", 1e15},
                  {"KiB", kKi}, {"MiB", kMi}, {"GiB", kGi}, {"TiB", kTi},  {"PiB", kPi}};
constexpr Suffix kBytesPerS[] = {{"", 1}, {"MB/s", 1e6}, {"GB/s", 1e9}, {"TB/s", 1e12}};
constexpr Suffix kFlopsPerS[] = {
    {"", 1}, {"G", 1e9}, {"T", 1e12}, {"P", 1e15},
    {"GFLOP/s", 1e9}, {"TFLOP/s", 1e12}, {"PFLOP/s", 1e15}};
constexpr Suffix kDurations[] = {
    {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"min", 60}, {"h", 3600}, {"d", 86400}};
// clang-format on

/// Digits with a suffix of the list; the result is finite and not negative.
std::optional<double> parse(std::string_view text, std::span<const Suffix> suffixes) {
  double value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !std::isfinite(value) || std::signbit(value)) return std::nullopt;
  const std::string_view suffix = text.substr(static_cast<std::size_t>(rest - text.data()));
  for (const Suffix& s : suffixes) {
    if (suffix == s.text && std::isfinite(value * s.scale)) return value * s.scale;
  }
  return std::nullopt;
}

[[noreturn]] void refuse(std::string_view text, std::string_view what, std::string_view expected) {
  throw std::invalid_argument(fmt::format("{}: expected {}, got \"{}\"", what, expected, text));
}

double parse_or_refuse(std::string_view text, std::string_view what,
                       std::span<const Suffix> suffixes, std::string_view expected) {
  if (const auto value = parse(text, suffixes)) return *value;
  refuse(text, what, expected);
}

std::int64_t parse_whole(std::string_view text, std::string_view what,
                         std::span<const Suffix> suffixes, std::string_view expected) {
  // Digits alone keep all of their digits; a double has 53 bits.
  std::int64_t whole = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, whole);
  if (error == std::errc() && rest == end && whole >= 0) return whole;

  const double value = parse_or_refuse(text, what, suffixes, expected);
  const double rounded = std::round(value);
  // 2.3M is not exact in binary; 1.5 and 0.4 are meant to be refused.
  if (std::fabs(value - rounded) > 1e-12 * value) refuse(text, what, expected);
  if (rounded >= 0x1p63) refuse(text, what, "less than 9.22e18");
  return static_cast<std::int64_t>(rounded);
}

}  // namespace

std::int64_t parse_count(std::string_view text, std::string_view what) {
  return parse_whole(text, what, kCounts,
                     "a whole number such as 1024, 70B or 15T (k M B T are 1e3 1e6 1e9 1e12)");
}

std::int64_t parse_bytes(std::string_view text, std::string_view what) {
  return parse_whole(text, what, kSizes, "a size such as 80GB (1e9 byte) or 80GiB (2^30 byte)");
}

double parse_bytes_per_s(std::string_view text, std::string_view what) {
  return parse_or_refuse(text, what, kBytesPerS, "a bandwidth such as 3.35TB/s");
}

double parse_flops_per_s(std::string_view text, std::string_view what) {
  return parse_or_refuse(text, what, kFlopsPerS, "a rate such as 989.5TFLOP/s");
}

double parse_per_s(std::string_view text, std::string_view what) {
  return parse_or_refuse(text, what, kCounts, "a rate such as 716 or 238.3k");
}

double parse_seconds(std::string_view text, std::string_view what) {
  constexpr std::string_view kExpected = "a duration above 0 such as 14ms, 6.34s, 24h or 30d";
  const double seconds = parse_or_refuse(text, what, kDurations, kExpected);
  if (seconds == 0) refuse(text, what, kExpected);
  return seconds;
}

double parse_number(std::string_view text, std::string_view what) {
  return parse_or_refuse(text, what, kNone, "a number such as 0.5");
}

}  // namespace roofline
