// The loops of the cpu backend and their table. Compiled once per level of the instruction set, of
// which cpu_table.cpp chooses one at run time. KERNELS_CPU_LEVEL, the level's name, is all that has
// external linkage.
#include "kernels/cpu/loops.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <type_traits>
#include <utility>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "kernels/checks.h"
#include "kernels/cpu/convert.h"
#include "kernels/cpu/math.h"
#include "kernels/input.h"

namespace kernels::cpu {
namespace {

// Threads share elements by blocks, which start on a cache line in all types. A sum is made block
// by block.
constexpr std::int64_t kBlock = 2048;

/// Calls f(begin, end, thread) on each of `processors` threads, for ranges that cover n and begin
/// at whole blocks.
template <typename F>
void in_parallel(std::int64_t n, int processors, F f) {
  const std::int64_t blocks = n / kBlock + (n % kBlock != 0);
#pragma omp parallel for num_threads(processors) schedule(static, 1)
  for (int thread = 0; thread < processors; ++thread) {
    const std::int64_t begin = blocks * thread / processors * kBlock;
    const std::int64_t end = blocks * (thread + 1) / processors * kBlock;
    f(begin, end < n ? end : n, thread);
  }
}

int threads_of(const Policy& policy, const Queue& queue) {
  const bool fewer = policy.one_thread_in > 1 && policy.one_thread_in <= queue.processors;
  return fewer ? queue.processors / policy.one_thread_in : queue.processors;
}

/// Asks for what is read `ahead` bytes later, a cache line for each of `bytes`; past the end of an
/// array it does nothing. A loop that converts leaves the processor few loads to overlap: without
/// this a dot of bf16 or fp16 took half again as long on a Xeon with AVX-512.
void prefetch(const void* from, std::int64_t bytes, std::int64_t ahead) {
  for (std::int64_t i = 0; i < bytes; i += 64) {
    __builtin_prefetch(static_cast<const char*>(from) + ahead + i);
  }
}

/// What is computed before it is stored past the caches comes in whole pieces: of known length,
/// they are unrolled. In 8 KiB, reads and writes would not overlap (two thirds of the rate).
constexpr std::int64_t kPieceBytes = 256, kMostStretchBytes = 2048;

/// Copies `bytes`, a multiple of 16, past the caches, so that the processor does not first read
/// what it will overwrite. Both 16-byte aligned. In stores of 64 bytes GeLU in fp32 lost 10 % and
/// ReLU 4 on a Xeon with AVX-512.
void stream_out(void* to, const void* from, std::int64_t bytes) {
#ifdef __SSE2__
  for (std::int64_t i = 0; i < bytes; i += 16) {
    _mm_stream_si128(
        reinterpret_cast<__m128i*>(static_cast<char*>(to) + i),
        _mm_load_si128(reinterpret_cast<const __m128i*>(static_cast<const char*>(from) + i)));
  }
#else
  std::memcpy(to, from, bytes);
#endif
}

void fence_streams() {
#ifdef __SSE2__
  _mm_sfence();
#endif
}

// ---- elementwise

// An op works on bits, as relu, or on values, which it gets as floats.

template <typename T>
struct Relu {
  static constexpr const char* kName = "relu";
  static constexpr int kInputs = 1;
  using Storage = typename T::Storage;
  static Storage bits(Storage a) {  // as the CUDA kernel does
    constexpr auto kMagnitude = static_cast<Storage>(static_cast<Storage>(~Storage{0}) >> 1);
    return a > kMagnitude && (a & kMagnitude) <= T::kLargest ? Storage{0} : a;
  }
};

template <typename T>
struct Copy {
  static constexpr const char* kName = "copy";
  static constexpr int kInputs = 1;
  static typename T::Storage bits(typename T::Storage a) { return a; }
};

template <typename T>
struct Write {
  static constexpr const char* kName = "write";
  static constexpr int kInputs = 0;
  static typename T::Storage bits(typename T::Storage) { return T::store(1.0F); }
};

struct Gelu {
  static constexpr const char* kName = "gelu";
  static constexpr int kInputs = 1;
  static float value(float x, float) {
    // 0.5 (1 + tanh(u)) = 1 / (1 + e^-2u), u = sqrt(2 / pi) (x + 0.044715 x^3)
    constexpr float kLinear = -2.0F * 1.4426950409F * 0.7978845608F, kCubic = kLinear * 0.044715F;
    return x / (1.0F + exp2(x * (kLinear + kCubic * x * x)));
  }
};

struct GeluErf {
  static constexpr const char* kName = "gelu_erf";
  static constexpr int kInputs = 1;
  static float value(float x, float) { return 0.5F * x * (1.0F + erf(x * 0.7071067812F)); }
};

struct Triad {
  static constexpr const char* kName = "triad";
  static constexpr int kInputs = 2;
  static float value(float a, float b) { return a + 3.0F * b; }
};

template <typename Op, typename T, typename Storage = typename T::Storage>
void compute(const Storage* a, const Storage* b, std::int64_t n, Storage* __restrict out) {
  if constexpr (requires { Op::bits(Storage{}); }) {
    for (std::int64_t i = 0; i < n; ++i) out[i] = Op::bits(Op::kInputs == 0 ? Storage{0} : a[i]);
  } else {
    const std::int64_t whole = n / kLanes * kLanes;
    for (std::int64_t i = 0; i < whole; i += kLanes) {
      float x[kLanes], y[kLanes] = {};
      load_lanes<T>(a + i, x);
      if (Op::kInputs == 2) load_lanes<T>(b + i, y);
      for (int j = 0; j < kLanes; ++j) x[j] = Op::value(x[j], y[j]);
      store_lanes<T>(x, out + i);
    }
    for (std::int64_t i = whole; i < n; ++i) {
      out[i] = T::store(Op::value(T::load(a[i]), Op::kInputs == 2 ? T::load(b[i]) : 0.0F));
    }
  }
}

template <typename Op, typename T>
void elementwise(const Operands& x, const Policy& policy, const Queue& queue) {
  using Storage = typename T::Storage;
  constexpr const char* kName = Op::kName;
  constexpr int kInputs = Op::kInputs;
  constexpr bool kIsCopy = std::is_same_v<Op, Copy<T>>;
  const std::int64_t bytes = x.n * std::int64_t{sizeof(Storage)};
  const Range ranges[] = {{"a", x.a, kInputs >= 1 ? bytes : 0},
                          {"b", x.b, kInputs == 2 ? bytes : 0}};
  const Range written{"out", x.out, bytes};
  check_count(kName, "n", x.n);
  for (const Range& range : {ranges[0], ranges[1], written}) check_aligned(kName, range);
  check_apart(kName, written, {ranges[0], ranges[1]});
  check_fits(kName, "stretch_bytes", policy.stretch_bytes,
             policy.stretch_bytes >= 0 && policy.stretch_bytes <= kMostStretchBytes &&
                 policy.stretch_bytes % kPieceBytes == 0,
             "a multiple of 256 up to 2048");

  const auto* a = static_cast<const Storage*>(x.a);
  const auto* b = static_cast<const Storage*>(x.b);
  auto* out = static_cast<Storage*>(x.out);
  in_parallel(x.n, threads_of(policy, queue), [=](std::int64_t begin, std::int64_t end, int) {
    std::int64_t i = begin;
    if (policy.stretch_bytes > 0) {
      constexpr std::int64_t kPiece = kPieceBytes / std::int64_t{sizeof(Storage)};
      const std::int64_t stretch = policy.stretch_bytes / std::int64_t{sizeof(Storage)};
      for (; i + stretch <= end; i += stretch) {
        alignas(64) Storage computed[kMostStretchBytes / sizeof(Storage)];
        for (std::int64_t k = 0; k < stretch; k += kPiece) {
          if (kInputs >= 1) prefetch(a + i + k, kPieceBytes, policy.ahead_bytes);
          if (kInputs == 2) prefetch(b + i + k, kPieceBytes, policy.ahead_bytes);
          if (!kIsCopy) compute<Op, T>(a + i + k, b + i + k, kPiece, computed + k);
        }
        for (std::int64_t k = 0; k < stretch; k += kPiece) {
          stream_out(out + i + k, kIsCopy ? a + i + k : computed + k, kPieceBytes);
        }
      }
      fence_streams();
    }
    compute<Op, T>(a + i, b + i, end - i, out + i);
  });
}

// ---- fma: the peak of multiply-adds

/// Chains side by side: two pipes of 4 cycles latency need 8 vectors under way. 12 of the 32
/// registers of AVX-512; 5 pairs of the 16 elsewhere.
typedef float Chains __attribute__((vector_size(64)));
#ifdef __AVX512F__
constexpr int kVectors = 12;
#else
constexpr int kVectors = 5;
#endif
constexpr std::int64_t kChains = kVectors * sizeof(Chains) / sizeof(float);

void fma(const Operands& x, const Policy& policy, const Queue& queue) {
  const std::int64_t bytes = x.n * std::int64_t{sizeof(float)};
  check_count("fma", "n", x.n);
  check_count("fma", "m", x.m);
  for (const Range& range : {Range{"a", x.a, bytes}, Range{"out", x.out, bytes}}) {
    check_aligned("fma", range);
  }
  check_apart("fma", {"out", x.out, bytes}, {{"a", x.a, bytes}});
  // Read at run time: with a known -1 the compiler would make one subtraction of the step.
  static const volatile float kMinusOne = -1.0F;
  const float minus_one = kMinusOne;
  const auto* a = static_cast<const float*>(x.a);
  auto* out = static_cast<float*>(x.out);
  const int threads = threads_of(policy, queue);
  in_parallel(x.n, threads, [=, steps = x.m](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = begin; i < end; i += kChains) {
      const std::int64_t size =
          (end - i < kChains ? end - i : kChains) * std::int64_t{sizeof(float)};
      Chains c[kVectors] = {};
      std::memcpy(c, a + i, size);
      for (std::int64_t step = 0; step < steps; ++step) {
        for (Chains& chain : c) chain = chain * minus_one + 1.0F;
      }
      std::memcpy(out + i, c, size);
    }
  });
}

// ---- sums

/// For each row the sum of row[i] b[i], begin <= i < end. Blocks are summed in fp32, as lanes of
/// vectors; their sums in fp64, for there may be 10^5 of them.
template <typename A, typename B, std::size_t kRows>
std::array<double, kRows> dot_range(std::array<const typename A::Storage*, kRows> rows,
                                    const typename B::Storage* b, std::int64_t begin,
                                    std::int64_t end, std::int64_t ahead) {
  std::array<double, kRows> totals = {};
  for (std::int64_t i = begin; i < end; i += kBlock) {
    const std::int64_t stop = end - i < kBlock ? end : i + kBlock;
    float lanes[kRows][kLanes] = {};
    std::int64_t k = i;
    for (; k + kLanes <= stop; k += kLanes) {
      float y[kLanes];
      prefetch(b + k, kLanes * sizeof(typename B::Storage), ahead);
      load_scaled<B>(b + k, y);
      for (std::size_t r = 0; r < kRows; ++r) {
        float x[kLanes];
        prefetch(rows[r] + k, kLanes * sizeof(typename A::Storage), ahead);
        load_scaled<A>(rows[r] + k, x);
        for (int j = 0; j < kLanes; ++j) lanes[r][j] += x[j] * y[j];
      }
    }
    for (std::size_t r = 0; r < kRows; ++r) {
      float sum = 0.0F;
#pragma omp simd reduction(+ : sum)
      for (int j = 0; j < kLanes; ++j) sum += lanes[r][j];
      sum *= kScale<A> * kScale<B>;  // once, not of each element
      for (std::int64_t j = k; j < stop; ++j) sum += A::load(rows[r][j]) * B::load(b[j]);
      totals[r] += static_cast<double>(sum);
    }
  }
  return totals;
}

/// The sum of a[i] b[i], i < n. sums: one for each thread.
template <typename T>
float dot_in_parallel(const typename T::Storage* a, const typename T::Storage* b, std::int64_t n,
                      int threads, std::int64_t ahead, double* sums) {
  in_parallel(n, threads, [=](std::int64_t begin, std::int64_t end, int thread) {
    sums[thread] = dot_range<T, T, 1>({a}, b, begin, end, ahead)[0];
  });
  double total = 0.0;
  for (int thread = 0; thread < threads; ++thread) total += sums[thread];
  return static_cast<float>(total);
}

std::size_t dot_workspace(const Operands&, const Policy& policy, const Queue& queue) {
  return threads_of(policy, queue) * sizeof(double);
}

template <typename T>
void dot(const Operands& x, const Policy& policy, const Queue& queue) {
  using Storage = typename T::Storage;
  const std::int64_t bytes = x.n * std::int64_t{sizeof(Storage)};
  const Range a{"a", x.a, bytes}, b{"b", x.b, bytes}, out{"out", x.out, sizeof(float)};
  const auto workspace_bytes = static_cast<std::int64_t>(dot_workspace(x, policy, queue));
  const Range workspace{"workspace", x.workspace, workspace_bytes};
  check_count("dot", "n", x.n);
  for (const Range& range : {a, b, out}) check_aligned("dot", range);
  check_aligned("dot", workspace, 256);
  check_apart("dot", out, {a, b, workspace});
  check_apart("dot", workspace, {a, b});

  *static_cast<float*>(x.out) = dot_in_parallel<T>(
      static_cast<const Storage*>(x.a), static_cast<const Storage*>(x.b), x.n,
      threads_of(policy, queue), policy.ahead_bytes, static_cast<double*>(x.workspace));
}

/// x in fp32, or the sums of threads that share the columns.
std::size_t gemv_workspace(const Operands& x, const Policy& policy, const Queue& queue) {
  return std::max<std::size_t>(x.n * sizeof(float), threads_of(policy, queue) * sizeof(double));
}

template <typename T>
void gemv(const Operands& x, const Policy& policy, const Queue& queue) {
  using Storage = typename T::Storage;
  using Out = typename Dtype<T>::GemvOutput;
  constexpr std::int64_t kSize = sizeof(Storage);
  check_count("gemv", "m", x.m);
  check_count("gemv", "n", x.n);
  const std::int64_t lda = checked_lda("gemv", x, kSize);
  const Range a{"a", x.a, x.m == 0 ? 0 : ((x.m - 1) * lda + x.n) * kSize};
  const Range b{"b", x.b, x.n * kSize};
  const Range out{"out", x.out, x.m * std::int64_t{sizeof(typename Out::Storage)}};
  const auto workspace_bytes = static_cast<std::int64_t>(gemv_workspace(x, policy, queue));
  const Range workspace{"workspace", x.workspace, workspace_bytes};
  for (const Range& range : {a, b, out}) check_aligned("gemv", range);
  check_aligned("gemv", workspace, 256);
  check_apart("gemv", out, {a, b, workspace});
  check_apart("gemv", workspace, {a, b});

  const auto* matrix = static_cast<const Storage*>(x.a);
  const auto* vector = static_cast<const Storage*>(x.b);
  auto* y = static_cast<typename Out::Storage*>(x.out);
  const int threads = threads_of(policy, queue);
  // So few rows that threads would end far apart, or have none, are shared by columns.
  if (x.m < std::int64_t{4} * threads && x.n >= threads * kBlock) {
    for (std::int64_t row = 0; row < x.m; ++row) {
      y[row] =
          Out::store(dot_in_parallel<T>(matrix + row * lda, vector, x.n, threads,
                                        policy.ahead_bytes, static_cast<double*>(x.workspace)));
    }
    return;
  }
  auto* converted = static_cast<Fp32::Storage*>(x.workspace);  // once, not once a row
  in_parallel(x.n, threads, [=](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = begin; i < end; ++i) converted[i] = Fp32::store(T::load(vector[i]));
  });
  // Rows in pairs, x loaded half as often: one of each half of a thread's rows, so that both
  // streams go on where a row ends.
#pragma omp parallel for num_threads(threads) schedule(static, 1)
  for (int thread = 0; thread < threads; ++thread) {
    const std::int64_t begin = x.m * thread / threads, end = x.m * (thread + 1) / threads;
    const std::int64_t middle = end - (end - begin) / 2;
    for (std::int64_t row = begin; row < middle; ++row) {
      const std::int64_t distance = row - begin + middle < end ? middle - begin : 0;  // 0: alone
      const std::int64_t second = row + distance;
      const auto sums = dot_range<T, Fp32, 2>({matrix + row * lda, matrix + second * lda},
                                              converted, 0, x.n, policy.ahead_bytes);
      y[row] = Out::store(static_cast<float>(sums[0]));
      y[second] = Out::store(static_cast<float>(sums[1]));
    }
  }
}

// ---- read, empty

std::size_t read_workspace(const Operands&, const Policy& policy, const Queue& queue) {
  return threads_of(policy, queue) * sizeof(std::uint32_t);
}

template <typename T>
void read(const Operands& x, const Policy& policy, const Queue& queue) {
  using Word = std::uint32_t;
  check_count("read", "n", x.n);
  const std::int64_t bytes = x.n * std::int64_t{sizeof(typename T::Storage)};
  const Range a{"a", x.a, bytes};
  const auto workspace_bytes = static_cast<std::int64_t>(read_workspace(x, policy, queue));
  const Range workspace{"workspace", x.workspace, workspace_bytes};
  check_aligned("read", a);
  check_aligned("read", workspace, 256);
  check_apart("read", workspace, {a});

  const std::int64_t words = bytes / std::int64_t{sizeof(Word)};
  const auto* from = static_cast<const Word*>(x.a);
  auto* partials = static_cast<Word*>(x.workspace);
  const int threads = threads_of(policy, queue);
  in_parallel(words, threads, [=](std::int64_t begin, std::int64_t end, int thread) {
    Word lanes[kLanes] = {};
    const std::int64_t half = (end - begin) / 2 / kLanes * kLanes;  // two streams: 7 % over one
    std::int64_t i = begin;
    for (; i < begin + half; i += kLanes) {
      prefetch(from + i, kLanes * sizeof(Word), policy.ahead_bytes);
      prefetch(from + half + i, kLanes * sizeof(Word), policy.ahead_bytes);
      for (int j = 0; j < kLanes; ++j) lanes[j] ^= from[i + j] ^ from[half + i + j];
    }
    for (i += half; i < end; ++i) lanes[0] ^= from[i];
    Word sum = 0;
    for (const Word lane : lanes) sum ^= lane;
    partials[thread] = sum;
  });
  Word rest = 0;
  std::memcpy(&rest, from + words, bytes - words * sizeof(Word));
  partials[0] ^= rest;
}

void empty(const Operands&, const Policy&, const Queue& queue) {
  in_parallel(0, queue.processors, [](std::int64_t, std::int64_t, int) {});
}

// ---- the table

std::size_t no_workspace(const Operands&, const Policy&, const Queue&) { return 0; }

// The first of each is a default for any processor.
constexpr Policy kPlain[] = {{.name = "plain"}};
constexpr Policy kArithmetic[] = {{.name = "plain"}, {.name = "plain-half", .one_thread_in = 2}};
constexpr Policy kSums[] = {{.name = "plain"},
                            {.name = "plain-p2048", .ahead_bytes = 2048},
                            {.name = "plain-p4096", .ahead_bytes = 4096},
                            {.name = "plain-half", .one_thread_in = 2}};
/// A dot of FP8 asks for 2 KiB ahead: in E5M2 11 % faster than with 1, on a Xeon with AVX-512.
template <typename T>
constexpr auto kDotSums = [] {
  auto policies = std::to_array(kSums);
  if (sizeof(typename T::Storage) == 1) std::swap(policies[0], policies[1]);
  return policies;
}();
constexpr Policy kElementwise[] = {
#ifdef __SSE2__
    {.name = "nontemporal", .stretch_bytes = 512},
    {.name = "nontemporal-s256", .stretch_bytes = 256},
    {.name = "nontemporal-s2048", .stretch_bytes = 2048},
    {.name = "nontemporal-half", .one_thread_in = 2, .stretch_bytes = 512},
#endif
    {.name = "plain"},
};
/// A copy takes the longest stretch: 2 KiB are 5 % faster than 512 bytes in each type, where ReLU
/// and triad, which compute between, are slower; on a Xeon with AVX-512.
constexpr auto kCopies = [] {
  auto policies = std::to_array(kElementwise);
  std::ranges::sort(policies, std::greater(), &Policy::stretch_bytes);
  return policies;
}();

template <typename Op, typename T>
constexpr Kernel elementwise_row(std::span<const Policy> policies = kElementwise) {
  return {Op::kName, Dtype<T>::kName, policies, no_workspace, elementwise<Op, T>};
}

/// All ops of one storage type.
template <typename T>
constexpr auto kRows = std::to_array<Kernel>({
    elementwise_row<Relu<T>, T>(),
    elementwise_row<Gelu, T>(),
    elementwise_row<GeluErf, T>(),
    elementwise_row<Copy<T>, T>(kCopies),
    elementwise_row<Write<T>, T>(),
    elementwise_row<Triad, T>(),
    {"read", Dtype<T>::kName, kSums, read_workspace, read<T>},
    {"dot", Dtype<T>::kName, kDotSums<T>, dot_workspace, dot<T>},
    {"gemv", Dtype<T>::kName, kSums, gemv_workspace, gemv<T>},
});

constexpr auto kTable = [] {
  std::array<Kernel, 5 * kRows<Fp32>.size() + 2> table{};
  auto* row = table.data();
  for (const auto& rows : {kRows<Fp32>, kRows<Fp16>, kRows<Bf16>, kRows<Fp8E4m3>, kRows<Fp8E5m2>}) {
    for (const Kernel& kernel : rows) *row++ = kernel;
  }
  *row++ = {"fma", "fp32", kArithmetic, no_workspace, fma};
  *row++ = {"empty", "fp32", kPlain, no_workspace, empty};
  return table;
}();

template <typename T, InputKind kKind>
void fill_as(void* data, std::uint64_t seed, std::int64_t n, const Queue& queue) {
  auto* out = static_cast<typename T::Storage*>(data);
  in_parallel(n, queue.processors, [=](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = begin; i < end;
         i += kBlock) {  // a block has one key: kBlock divides 2^32
      const std::uint64_t key = input_key(seed, static_cast<std::uint32_t>(i >> 32));
      const auto low = static_cast<std::uint32_t>(i);
      const auto count = static_cast<std::uint32_t>(end - i < kBlock ? end - i : kBlock);
      auto* __restrict__ to = out + i;  // bytes may alias anything, and then nothing vectorises
      for (std::uint32_t k = 0; k < count; ++k) to[k] = T::store(keyed_input(kKind, key, low + k));
    }
  });
}

template <typename T>
bool fill(void* data, const char* dtype, InputKind kind, std::uint64_t seed, std::int64_t n,
          const Queue& queue) {
  if (std::strcmp(dtype, Dtype<T>::kName) != 0) return false;
  check_count("fill", "n", n);
  check_aligned("fill", {"data", data, n * std::int64_t{sizeof(typename T::Storage)}});
  switch (kind) {
    case InputKind::normal:
      fill_as<T, InputKind::normal>(data, seed, n, queue);
      break;
    case InputKind::uniform:
      fill_as<T, InputKind::uniform>(data, seed, n, queue);
      break;
    case InputKind::integers:
      fill_as<T, InputKind::integers>(data, seed, n, queue);
      break;
    case InputKind::ones:
      fill_as<T, InputKind::ones>(data, seed, n, queue);
      break;
    case InputKind::zeros:
      fill_as<T, InputKind::zeros>(data, seed, n, queue);
      break;
    case InputKind::edges:
      fill_as<T, InputKind::edges>(data, seed, n, queue);
      break;
  }
  return true;
}

void fill(void* data, const char* dtype, InputKind kind, std::uint64_t seed, std::int64_t n,
          const Queue& queue) {
  const bool known = fill<Fp32>(data, dtype, kind, seed, n, queue) ||
                     fill<Fp16>(data, dtype, kind, seed, n, queue) ||
                     fill<Bf16>(data, dtype, kind, seed, n, queue) ||
                     fill<Fp8E4m3>(data, dtype, kind, seed, n, queue) ||
                     fill<Fp8E5m2>(data, dtype, kind, seed, n, queue);
  if (!known) refuse_dtype(dtype);
}

}  // namespace

#define KERNELS_STRING(text) #text
#define KERNELS_NAME_OF(macro) KERNELS_STRING(macro)
extern const Loops KERNELS_CPU_LEVEL{KERNELS_NAME_OF(KERNELS_CPU_LEVEL), kTable, fill};

}  // namespace kernels::cpu
