# Writes OUT, a header with the sizes of cuBLASLt's tiles and the names of its stages, taken from the
# enumerators of HEADER: there are hundreds, and more with each version.
file(STRINGS "${HEADER}" lines REGEX "^ *CUBLASLT_MATMUL_(TILE|STAGES)_[0-9]+x")
foreach(line IN LISTS lines)
  if(line MATCHES "(CUBLASLT_MATMUL_TILE_([0-9]+)x([0-9]+))")
    string(APPEND tiles "    {${CMAKE_MATCH_1}, {${CMAKE_MATCH_2}, ${CMAKE_MATCH_3}}},\n")
  elseif(line MATCHES "(CUBLASLT_MATMUL_STAGES_([0-9]+x[0-9A-Z]+))")
    string(APPEND stages "    {${CMAKE_MATCH_1}, \"${CMAKE_MATCH_2}\"},\n")
  endif()
endforeach()
file(CONFIGURE OUTPUT "${OUT}" CONTENT [[
#pragma once
#include <cublasLt.h>

#include <string_view>
#include <utility>

#include "roofline/tiling.h"

namespace bench {
inline constexpr std::pair<cublasLtMatmulTile_t, roofline::Tiling> kTiles[] = {
@tiles@};
inline constexpr std::pair<cublasLtMatmulStages_t, std::string_view> kStages[] = {
@stages@};
}  // namespace bench
]] @ONLY)
