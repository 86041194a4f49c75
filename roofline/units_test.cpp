// The formulas of the model are checked by their types; here are divisions that must not compile.
#include "roofline/units.h"

#include <gtest/gtest.h>

#include <type_traits>

namespace roofline {
namespace {

// clang-format off
template <typename A, typename B> concept Addable = requires(A a, B b) { a + b; };
template <typename A, typename B> concept Comparable = requires(A a, B b) { a < b; };
template <typename Result, typename A, typename B>
concept DividesInto = requires(A a, B b) { Result{a / b}; };
// clang-format on

static_assert(Addable<Bytes, Bytes>);
static_assert(!Addable<Flops, Bytes>);
static_assert(!Comparable<FlopsPerS, BytesPerS>);
static_assert(DividesInto<Intensity, Flops, Bytes>);
static_assert(DividesInto<Intensity, FlopsPerS, BytesPerS>, "the ridge point");
static_assert(!DividesInto<Intensity, Bytes, Flops>, "a wrong division must not compile");
static_assert(!DividesInto<Seconds, BytesPerS, Bytes>);
static_assert(std::is_same_v<decltype(Bytes{} / BytesPerS{}), Seconds>);

TEST(Units, H100RidgeIs295FlopsPerByte) {
  // 989.5e12 / 3.35e12 = 295.37313...
  EXPECT_NEAR((989.5 * kTflopsPerS / (3.35 * kTBPerS)).value, 295.3731343, 1e-7);
}

}  // namespace
}  // namespace roofline
