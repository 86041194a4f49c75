// The codec against the host forms of CUDA's own conversions, where its headers are installed.
#include <gtest/gtest.h>

#include "roofline/dtype.h"

#if __has_include(<cuda_fp8.h>)

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <bit>
#include <cmath>
#include <limits>

namespace roofline {
namespace {

struct Peer {
  Dtype dtype;
  Overflow overflow;
  std::uint64_t (*encode)(float value);
  float (*decode)(std::uint64_t code);
};

std::uint64_t to_fp16(float x) { return __half_raw(__float2half_rn(x)).x; }
float from_fp16(std::uint64_t code) {
  __half_raw raw;
  raw.x = static_cast<unsigned short>(code);
  return __half2float(raw);
}
std::uint64_t to_bf16(float x) { return __nv_bfloat16_raw(__float2bfloat16_rn(x)).x; }
float from_bf16(std::uint64_t code) {
  __nv_bfloat16_raw raw;
  raw.x = static_cast<unsigned short>(code);
  return __bfloat162float(raw);
}
template <__nv_saturation_t kSaturation, __nv_fp8_interpretation_t kFormat>
std::uint64_t to_fp8(float x) {
  return __nv_cvt_float_to_fp8(x, kSaturation, kFormat);
}
template <__nv_fp8_interpretation_t kFormat>
float from_fp8(std::uint64_t code) {
  return __half2float(__nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(code), kFormat));
}

const Peer kPeers[] = {
    {Dtype::fp16, Overflow::to_infinity, &to_fp16, &from_fp16},
    {Dtype::bf16, Overflow::to_infinity, &to_bf16, &from_bf16},
    {Dtype::fp8_e4m3, Overflow::to_infinity, &to_fp8<__NV_NOSAT, __NV_E4M3>, &from_fp8<__NV_E4M3>},
    {Dtype::fp8_e4m3, Overflow::saturate, &to_fp8<__NV_SATFINITE, __NV_E4M3>, &from_fp8<__NV_E4M3>},
    {Dtype::fp8_e5m2, Overflow::to_infinity, &to_fp8<__NV_NOSAT, __NV_E5M2>, &from_fp8<__NV_E5M2>},
    {Dtype::fp8_e5m2, Overflow::saturate, &to_fp8<__NV_SATFINITE, __NV_E5M2>, &from_fp8<__NV_E5M2>},
};

/// Equal codes, or both NaN: which NaN is left open by the definitions.
void expect_same(const Peer& peer, float value) {
  const std::uint64_t ours = encode(peer.dtype, value, peer.overflow), theirs = peer.encode(value);
  const bool both_nan =
      std::isnan(decode(peer.dtype, ours)) && std::isnan(decode(peer.dtype, theirs));
  ASSERT_TRUE(ours == theirs || both_nan)
      << name(peer.dtype) << ' ' << value << ": " << ours << ", CUDA " << theirs;
}

TEST(DtypeCuda, EveryCodeDecodesAsInCuda) {
  for (const Peer& peer : kPeers) {
    for (std::uint64_t code = 0; code < std::uint64_t{1} << format(peer.dtype).bits(); ++code) {
      const double ours = decode(peer.dtype, code), theirs = peer.decode(code);
      ASSERT_TRUE(ours == theirs || (std::isnan(ours) && std::isnan(theirs)))
          << name(peer.dtype) << " code " << code << ": " << ours << ", CUDA " << theirs;
    }
  }
}

TEST(DtypeCuda, EveryTieAndItsNeighboursEncodeAsInCuda) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const Peer& peer : kPeers) {
    const std::uint64_t codes = std::uint64_t{1} << (format(peer.dtype).bits() - 1);
    for (std::uint64_t code = 0; code + 1 < codes; ++code) {
      const double low = decode(peer.dtype, code);
      double high = decode(peer.dtype, code + 1);
      if (!std::isfinite(low)) continue;
      // Past the largest value the tie is with what one more step would be.
      if (!std::isfinite(high)) high = low + (low - decode(peer.dtype, code - 1));
      const auto tie = static_cast<float>((low + high) / 2);
      for (const float value : {tie, std::nextafter(tie, 0.0F), std::nextafter(tie, infinity)}) {
        expect_same(peer, value);
        expect_same(peer, -value);
      }
    }
  }
}

TEST(DtypeCuda, ASweepOfAllFloatsEncodesAsInCuda) {
  for (const Peer& peer : kPeers) {
    // A prime step reaches each exponent about 4000 times, and NaN and infinity.
    for (std::uint64_t bits = 0; bits <= 0xFFFFFFFF; bits += 4099) {
      expect_same(peer, std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    }
    for (const float value :
         {0.0F, -0.0F, std::numeric_limits<float>::infinity(),
          -std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN(),
          std::numeric_limits<float>::max()}) {
      expect_same(peer, value);
    }
  }
}

}  // namespace
}  // namespace roofline

#else

TEST(DtypeCuda, AgreesWithTheCudaHeaders) {
  GTEST_SKIP() << "cuda_fp8.h was not found: the codec was checked against its definition only";
}

#endif
