// What a launcher refuses before it starts anything, in words that carry the numbers. Plain C++:
// both backends refuse the same operands. All throw std::invalid_argument.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "kernels/table.h"

namespace kernels {

/// A range of bytes that an op reads or writes.
struct Range {
  const char* name;  // as the message should call it: "a", "out"
  const void* data;
  std::int64_t bytes;
};

/// Refuses a count below 0.
void check_count(const char* op, const char* name, std::int64_t count);

/// Refuses a size that does not fit, with what was expected: "a multiple of 4".
void check_fits(const char* op, const char* name, std::int64_t size, bool fits,
                const std::string& expected);

/// Refuses a range of more than 0 bytes that is null or does not start on `alignment` bytes.
void check_aligned(const char* op, const Range& range, std::size_t alignment = 16);

/// Refuses an `out` that shares a byte with an input: threads read what others have written.
void check_apart(const char* op, const Range& out, std::initializer_list<Range> inputs);

/// Refuses a block that is not whole warps or larger than kernels are compiled for, and counts of
/// blocks and splits that make no grid.
void check_policy(const char* op, const Policy& policy);

/// A policy asked for vectors, or for caching, that the kernel was not compiled for.
[[noreturn]] void refuse_form(const char* op, const Policy& policy);

[[noreturn]] void refuse_dtype(const char* dtype);

/// Elements between the rows of `operands.a`. Refuses one below n, or one that leaves the rows of
/// `element_bytes` elements off their 16-byte alignment.
std::int64_t checked_lda(const char* op, const Operands& operands, std::int64_t element_bytes);

}  // namespace kernels
