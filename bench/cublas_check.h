// How this project checks a call of cuBLAS or cuBLASLt, which share their status codes.
#pragma once

#include <cublasLt.h>
#include <fmt/format.h>

#include <stdexcept>

// A macro, not a function: only the preprocessor still knows the text of the failing call.
#define CUBLAS_CHECK(call)                                                                   \
  do {                                                                                       \
    if (const cublasStatus_t check_status = (call); check_status != CUBLAS_STATUS_SUCCESS) { \
      throw std::runtime_error(fmt::format("{}:{}: {}: {} ({})", __FILE__, __LINE__, #call,  \
                                           cublasLtGetStatusName(check_status),              \
                                           cublasLtGetStatusString(check_status)));          \
    }                                                                                        \
  } while (false)
