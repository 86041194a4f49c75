// Numbers as people write them: 70B parameters, 15T tokens, 80GB, 256MiB, 3.35TB/s, 14d.
#pragma once

#include <cstdint>
#include <string_view>

namespace roofline {

// Prefixes are decimal: k M B T in a count, k M G T P before a unit. Binary ones are spelt KiB to
// PiB. `what` names the number in the message, "--tokens" for instance. What does not parse, is
// negative or does not fit throws std::invalid_argument "<what>: expected ..., got ...".

/// A whole number: "1024", "70B", "1.5M", "15e12".
std::int64_t parse_count(std::string_view text, std::string_view what);

/// A size: "80GB", "256MiB", "64kB"; digits alone are bytes. A trailing B alone is refused, for it
/// means billions in a count.
std::int64_t parse_bytes(std::string_view text, std::string_view what);

/// A rate: "3.35TB/s", "819GB/s", "2e12".
double parse_bytes_per_s(std::string_view text, std::string_view what);

/// A rate: "989.5TFLOP/s", "989.5T", "989.5e12".
double parse_flops_per_s(std::string_view text, std::string_view what);

/// A rate of anything: "716", "238.3k".
double parse_per_s(std::string_view text, std::string_view what);

/// A duration above zero: "14ms", "6.34s", "30min", "24h", "14d". A day has 86400 s.
double parse_seconds(std::string_view text, std::string_view what);

/// A plain number: "0.5".
double parse_number(std::string_view text, std::string_view what);

}  // namespace roofline
