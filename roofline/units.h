// Units as types: work divided by traffic is an intensity, and adding bytes to FLOPs does not
// compile.
#pragma once

#include <compare>

namespace roofline {

/// A value of dimension flop^F byte^B s^S.
template <int F, int B, int S>
struct Quantity {
  double value = 0;
  friend constexpr auto operator<=>(Quantity, Quantity) = default;
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return {a.value + b.value}; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return {a.value - b.value}; }
  friend constexpr Quantity operator*(double k, Quantity q) { return {k * q.value}; }
};

template <int F, int B, int S, int G, int C, int T>
constexpr Quantity<F + G, B + C, S + T> operator*(Quantity<F, B, S> a, Quantity<G, C, T> b) {
  return {a.value * b.value};
}

template <int F, int B, int S, int G, int C, int T>
constexpr Quantity<F - G, B - C, S - T> operator/(Quantity<F, B, S> a, Quantity<G, C, T> b) {
  return {a.value / b.value};
}

using Ratio = Quantity<0, 0, 0>;
using Flops = Quantity<1, 0, 0>;
using Bytes = Quantity<0, 1, 0>;
using Seconds = Quantity<0, 0, 1>;
using FlopsPerS = Quantity<1, 0, -1>;
using BytesPerS = Quantity<0, 1, -1>;
using Intensity = Quantity<1, -1, 0>;  // FLOP/byte

// Decimal, as in data sheets. Binary prefixes are spelt GiB, TiB.
inline constexpr FlopsPerS kTflopsPerS{1e12};
inline constexpr BytesPerS kGBPerS{1e9};
inline constexpr BytesPerS kTBPerS{1e12};

}  // namespace roofline
