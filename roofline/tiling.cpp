#include "roofline/tiling.h"

#include <fmt/format.h>

#include <charconv>

namespace roofline {
namespace {

/// Takes `prefix` and the number after it off the front of `text`; nothing where they are not
/// there.
std::optional<std::int64_t> take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return std::nullopt;
  std::int64_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data() + prefix.size(), text.data() + text.size(), value);
  if (error != std::errc{} || value < 1) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

}  // namespace

std::string to_text(const Tiling& t) {
  return fmt::format("tile {}x{}, split-K {}", t.along_n, t.along_m, t.split_k);
}

std::optional<Tiling> tiling_in(std::string_view note) {
  const std::size_t at = note.find("tile ");
  if (at == std::string_view::npos) return std::nullopt;
  note.remove_prefix(at);
  const auto along_n = take(note, "tile "), along_m = take(note, "x");
  const auto split_k = take(note, ", split-K ");
  if (!along_n || !along_m || !split_k) return std::nullopt;
  return Tiling{*along_n, *along_m, *split_k};
}

double waves(const Case& c, const Tiling& tiling, std::int64_t processors) {
  const auto up = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
  const std::int64_t tiles =
      up(c.n, tiling.along_n) * up(c.m, tiling.along_m) * tiling.split_k * c.batch;
  return static_cast<double>(tiles) / static_cast<double>(processors);
}

}  // namespace roofline
