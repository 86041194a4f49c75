#!/usr/bin/env bash
# Installs what is missing to build, measure and draw, and prints what it did. Safe to repeat.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: scripts/setup.sh [--tests] [--fetch]
  --tests  also what the tests need
  --fetch  first download the C++ libraries as pinned archives, check their sha256 and install them
           into .deps/, for a machine without root (what already lies in .deps/archives is kept)
exit codes: 0 ready, 1 a download failed, 2 wrong usage, or something required is missing
TEXT
}

tests=false
fetch=false
for argument in "$@"; do
  case $argument in
    --tests) tests=true ;;
    --fetch) fetch=true ;;
    --help | -h) usage && exit ;;
    *) echo "setup.sh: unknown option $argument; expected --tests, --fetch or --help" >&2 && exit 2 ;;
  esac
done
# shellcheck source=scripts/environment.sh
source "$(dirname "$(readlink -f "$0")")/environment.sh"

say() { echo "setup: $*"; }

# ---- packages ------------------------------------------------------------------------------------
# What is needed | seen by a <header> or command | its package in apt, dnf, conda-forge | without it.
needs='C++20 compiler   |<source_location>      |g++               |gcc-c++                   |cxx-compiler |required
CMake 3.22       |cmake                  |cmake             |cmake                     |cmake        |required
Ninja            |ninja                  |ninja-build       |ninja-build               |ninja        |required
flock            |flock                  |util-linux        |util-linux                |util-linux   |required
fmt              |<fmt/core.h>           |libfmt-dev        |fmt-devel                 |fmt          |required
Google Benchmark |<benchmark/benchmark.h>|libbenchmark-dev  |google-benchmark-devel    |benchmark    |required
CLI11            |<CLI/CLI.hpp>          |libcli11-dev      |cli11-devel               |cli11        |required
nlohmann-json    |<nlohmann/json.hpp>    |nlohmann-json3-dev|json-devel                |nlohmann_json|required
GoogleTest       |<gtest/gtest.h>        |libgtest-dev      |gtest-devel lib{a,t,ub}san|gtest        |required by the tests
oneDNN           |<oneapi/dnnl/dnnl.hpp> |libdnnl-dev       |onednn-devel              |onednn       |no GEMM on the cpu
OpenBLAS         |<openblas_config.h>    |libopenblas-openmp-dev|openblas-devel        |openblas=*=openmp*|no peer of the cpu loops
Python 3.9 + venv|python3                |python3-venv      |python3                   |python       |no picture
'

include_flags=(-I.deps/include ${CONDA_PREFIX:+"-I$CONDA_PREFIX/include"})
IFS=: read -r -a prefixes <<<"${CMAKE_PREFIX_PATH:-}"
for prefix in "${prefixes[@]}"; do
  include_flags+=("-I$prefix/include")
done

has() {
  case $1 in
    '<'*) "${CXX:-c++}" -std=c++20 -E -x c++ "${include_flags[@]}" - <<<"#include $1" ;;
    cmake) at_least 3.22 "$(cmake --version | sed -n '1s/cmake version //p')" ;;
    python3) python3 -c 'import sys, ensurepip; sys.exit(sys.version_info < (3, 9))' ;;
    *) command -v "$1" ;;
  esac &>/dev/null
}

# Fills required and optional with the packages that are missing, consequences with what that means.
look() {
  required=() optional=() consequences=()
  local cells need without
  while IFS='|' read -r -a cells; do
    need=${cells[0]} without=${cells[5]}
    if has "${cells[1]}" || { [[ $without == *tests ]] && ! $tests; }; then
      continue
    fi
    if [[ $without == required* ]]; then
      required+=("${cells[column]}")
    else
      optional+=("${cells[column]}")
      consequences+=("$need is missing (${cells[column]}): $without")
    fi
  done < <(sed -e '/^$/d' -e 's/ *| */|/g' <<<"$needs")
}

as_root=(env DEBIAN_FRONTEND=noninteractive)
if [[ $EUID -ne 0 ]]; then
  as_root=(sudo -n "${as_root[@]}")
fi
install() {
  say "apt-get install $*"
  "${as_root[@]}" apt-get install --yes --quiet --no-install-recommends "$@" </dev/null >/dev/null
}

# The system found: which column of the table, and the command that installs from it.
can_install=false
if command -v apt-get >/dev/null && "${as_root[@]}" true 2>/dev/null; then
  can_install=true
  column=2 command="apt-get install"
elif [[ -z ${CONDA_PREFIX:-} ]] && command -v apt-get >/dev/null; then
  column=2 command="apt-get install"
elif [[ -z ${CONDA_PREFIX:-} ]] && command -v dnf >/dev/null; then
  column=3 command="dnf install epel-release && dnf --enablerepo=crb install"
else
  column=4 command="conda install -c conda-forge"
fi

if $fetch && has cmake && has ninja && has '<source_location>'; then
  say "fetching the C++ libraries into .deps"
  if ! { cmake -Wno-dev -S scripts/fetch -B .deps/build -G Ninja -DDEPS="$PWD/.deps" &&
    cmake --build .deps/build; } >&2; then
    echo "setup.sh: a library could not be fetched, see above" >&2
    exit 1
  fi
fi

look
if $can_install && ((${#required[@]} + ${#optional[@]})); then
  "${as_root[@]}" apt-get update --quiet >/dev/null
  if ((${#required[@]})); then install "${required[@]}"; fi
  for package in "${optional[@]}"; do install "$package" || true; done
  look
fi
if ((${#required[@]})); then
  echo "setup.sh: required packages are missing: $command ${required[*]}" >&2
  echo "setup.sh: without root: a conda-forge environment, or scripts/setup.sh --fetch for the libraries" >&2
  exit 2
fi
for consequence in "${consequences[@]}"; do say "$consequence"; done

# ---- .venv: matplotlib, and the CUDA toolkit where only a driver is --------------------------------
# pip_install what package...: never stops the set-up.
pip_install() {
  local what=$1
  shift
  if [[ ! -x .venv/bin/pip ]] && ! python3 -m venv .venv; then
    rm -rf .venv
    return 1
  fi
  say "installing $what into .venv"
  .venv/bin/pip install --quiet --disable-pip-version-check "$@"
}

if has python3 && [[ -z $(python_with_matplotlib) ]]; then
  # 3.9.4 is the last that runs on Python 3.9, and has wheels up to 3.13.
  pip_install matplotlib 'matplotlib==3.9.4; python_version < "3.14"' \
    'matplotlib==3.10.8; python_version >= "3.14"' || say "matplotlib is missing: no picture"
fi

# The newest CUDA that the driver takes, as 13000; 0 without a driver.
driver_takes() {
  python3 - <<'PYTHON' 2>/dev/null || echo 0
import ctypes
version = ctypes.c_int()
ctypes.CDLL("libcuda.so.1").cuDriverGetVersion(ctypes.byref(version))
print(version.value)
PYTHON
}

# 13.0 wheels run on every driver that takes CUDA 13; newer ones want a newer driver.
cuda=$(driver_takes)
if [[ -n $nvcc_version ]]; then
  say "nvcc $nvcc_version: $CUDACXX"
elif ((cuda >= 13000)); then
  if pip_install "the CUDA toolkit" 'cuda-toolkit[nvcc,cudart,crt,nvvm,cccl,cublas,nvtx]==13.0.*'; then
    # The wheels hold lib/libX.so.13 alone; CMake wants libX.so, and nvcc looks in lib64.
    for library in .venv/lib/python3*/site-packages/nvidia/cu13/lib/lib*.so.*; do
      ln -sf "$(basename "$library")" "${library%%.so.*}.so"
      ln -sfn lib "$(dirname "$library")64"
    done
  else
    say "nvcc is missing: no cuda backend"
  fi
elif ((cuda > 0)); then
  say "nvcc is missing: no cuda backend. The driver takes CUDA $((cuda / 1000)).$((cuda % 1000 / 10)):" \
    "load or install a CUDA 12 toolkit, 12.4 or newer, and run this again"
else
  say "no NVIDIA driver and no nvcc: no cuda backend"
fi

for directory in /usr/local/cuda .venv/lib/python3*/site-packages/nvidia/cu13; do
  include_flags+=("-I$directory/include")
done
if [[ -z $nvcc_version ]] && $tests && ! has '<cuda_fp8.h>'; then
  pip_install "the CUDA headers" 'cuda-toolkit[cudart,crt,cccl]==13.0.*' ||
    say "the CUDA headers are missing: no kernel tests"
fi
if [[ -n $nvcc_version ]] && $tests && ! command -v cuobjdump "${CUDACXX%/*}/cuobjdump" \
  .venv/lib/python3*/site-packages/nvidia/cu13/bin/cuobjdump >/dev/null; then
  # There is none of 13.0; a newer one reads older code. It calls the nvdisasm beside it.
  pip_install "cuobjdump" 'nvidia-cuda-cuobjdump==13.2.*' 'nvidia-cuda-nvdisasm==13.2.*' ||
    say "cuobjdump is missing: no test of the kernels' machine code"
fi
say "ready"
