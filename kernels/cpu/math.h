// exp2 and erf as g++ vectorises them: no branch, no call. The tests bound their errors.
#pragma once

#include <cstdint>

#include "kernels/cpu/convert.h"

namespace kernels::cpu {
namespace {

/// 2^x to 3e-7 relative from -126 on; 2^-126 below that, inf from 127.5 on. A NaN is as large as
/// its sign lets it be.
inline float exp2(float x) {
  // Cut off as integers, which order the floats of one sign: of a comparison of floats g++ makes
  // two paths, and vectors then divide on both what GeLU divides.
  const auto bits = same_bits<std::int32_t>(x), most = same_bits<std::int32_t>(128.0F);
  const auto below = static_cast<std::uint32_t>(bits < most ? bits : most);
  const auto least = same_bits<std::uint32_t>(-126.0F);
  x = same_bits<float>(below < least ? below : least);
  // Adding 1.5 * 2^23 rounds to an integer, which then stands in the lowest bits.
  constexpr float kRounder = 0x1.8p23F;
  const float shifted = x + kRounder;
  const float r = x - (shifted - kRounder);  // |r| <= 1 / 2
  const float power = same_bits<float>((same_bits<std::uint32_t>(shifted) + 127U) << 23);
  // The minimax of degree 5 that is 1 at 0: 9.2e-8 of 2^r.
  const float e =
      1.0F + r * (0.693146977F + r * (0.24022242F + r * (0.0555073399F +
                                                         r * (0.009671519F + r * 0.00132646517F))));
  return e * power;
}

/// erf(x) to 5e-7 absolute; exactly +-1 from |x| = 4 on, where 1 - |erf| is below 1.6e-8; NaN for
/// NaN. The rational minimax of Eigen's generic_fast_erf_float (3.4).
inline float erf(float x) {
  const float y = x * x;
  const float p =
      x * (-1.60960333262415e-02F +
           y * (-2.95459980854025e-03F +
                y * (-7.34990630326855e-04F +
                     y * (-5.69250639462346e-05F +
                          y * (-2.10102402082508e-06F +
                               y * (2.77068142495902e-08F + y * -2.72614225801306e-10F))))));
  const float q = -1.42647390514189e-02F +
                  y * (-7.37332916720468e-03F +
                       y * (-1.68282697438203e-03F +
                            y * (-2.13374055278905e-04F + y * -1.45660718464996e-05F)));
  const float inside = p / q;
  const float outside = x < 0.0F ? -1.0F : 1.0F;
  return x >= 4.0F || x <= -4.0F ? outside : inside;
}

}  // namespace
}  // namespace kernels::cpu
