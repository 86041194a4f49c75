#include "kernels/checks.h"

#include <stdexcept>
#include <string>

#include "kernels/grid.h"

namespace kernels {
namespace {

[[noreturn]] void refuse(const char* op, const std::string& message) {
  throw std::invalid_argument(std::string(op) + ": " + message);
}

}  // namespace

void check_count(const char* op, const char* name, std::int64_t count) {
  if (count < 0) refuse(op, std::string(name) + " is " + std::to_string(count) + ", below 0");
}

void check_fits(const char* op, const char* name, std::int64_t size, bool fits,
                const std::string& expected) {
  if (!fits) {
    refuse(op, std::string(name) + " is " + std::to_string(size) + ", expected " + expected);
  }
}

void check_aligned(const char* op, const Range& range, std::size_t alignment) {
  if (range.bytes == 0) return;
  if (range.data == nullptr) {
    refuse(op, std::string(range.name) + " is null, expected " + std::to_string(range.bytes) +
                   " bytes of memory");
  }
  const std::size_t past = reinterpret_cast<std::uintptr_t>(range.data) % alignment;
  if (past != 0) {
    refuse(op, std::string(range.name) + " starts " + std::to_string(past) + " bytes past a " +
                   std::to_string(alignment) + "-byte boundary; it must start on one");
  }
}

void check_apart(const char* op, const Range& out, std::initializer_list<Range> inputs) {
  const auto out_begin = reinterpret_cast<std::uintptr_t>(out.data);
  for (const Range& input : inputs) {
    const auto begin = reinterpret_cast<std::uintptr_t>(input.data);
    if (out_begin < begin + input.bytes && begin < out_begin + out.bytes) {
      refuse(op, std::string(out.name) + " (" + std::to_string(out.bytes) + " bytes) overlaps " +
                     input.name + " (" + std::to_string(input.bytes) + " bytes); give them " +
                     "memory of their own");
    }
  }
}

void check_policy(const char* op, const Policy& policy) {
  if (policy.threads < 32 || policy.threads > kMaxThreads || policy.threads % 32 != 0) {
    refuse(op, std::to_string(policy.threads) +
                   " threads a block; expected a multiple of 32 up to " +
                   std::to_string(kMaxThreads));
  }
  if (policy.blocks_per_processor < 0) {
    refuse(op, std::to_string(policy.blocks_per_processor) + " blocks per processor, below 0");
  }
  if (policy.splits < 1) refuse(op, std::to_string(policy.splits) + " splits, below 1");
}

void refuse_form(const char* op, const Policy& policy) {
  constexpr const char* kCached[] = {"", " that are loaded once", " that are moved once"};
  refuse(op, "not compiled for " + std::to_string(policy.vectors) + " vectors a thread" +
                 kCached[static_cast<int>(policy.caching)] +
                 "; the table of kernels lists its policies");
}

void refuse_dtype(const char* dtype) {
  throw std::invalid_argument("dtype \"" + std::string(dtype) +
                              "\": expected fp32, fp16, bf16, fp8_e4m3 or fp8_e5m2");
}

std::int64_t checked_lda(const char* op, const Operands& operands, std::int64_t element_bytes) {
  const std::int64_t lda = operands.lda == 0 ? operands.n : operands.lda;
  if (lda < operands.n) {
    refuse(op, "lda is " + std::to_string(lda) + ", below the " + std::to_string(operands.n) +
                   " columns of a");
  }
  const std::int64_t lanes = 16 / element_bytes;
  if (operands.m > 1 && lda % lanes != 0) {
    refuse(op, "lda is " + std::to_string(lda) + ", which leaves the rows of a off their 16-byte " +
                   "alignment; pad them to " + std::to_string((lda / lanes + 1) * lanes) +
                   " elements");
  }
  return lda;
}

}  // namespace kernels
