# shellcheck shell=bash
# Sourced by the other scripts: the repository's root as working folder, nvcc, python, the preset.

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit

# wrong_usage what was expected, what came, the cure
wrong_usage() {
  echo "${0##*/}: $*" >&2
  exit 2
}

# Compilers and mktemp each say it in their own way, and late.
if [[ -n ${TMPDIR:-} && ! -w $TMPDIR ]]; then
  wrong_usage "expected a folder to write to in TMPDIR, got $TMPDIR: create it, or unset TMPDIR"
fi

# at_least 3.22 3.25.1: is the second version no older than the first?
at_least() {
  [[ $(printf '%s\n' "$1" "$2" | sort --version-sort | head -n 1) == "$1" ]]
}

# The first nvcc that is new enough: the chosen one, the loaded one, the usual place, the wheels.
nvcc_version=
for nvcc in "${CUDACXX:-}" "$(command -v nvcc || true)" /usr/local/cuda/bin/nvcc \
  "$PWD"/.venv/lib/python3*/site-packages/nvidia/cu13/bin/nvcc; do
  [[ -x $nvcc ]] || continue
  nvcc_version=$("$nvcc" --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p')
  if at_least 12.4 "$nvcc_version"; then
    export CUDACXX=$nvcc
    break
  fi
  nvcc_version=
done

preset=cpu
if [[ -n $nvcc_version ]]; then
  preset=gpu
fi
build=build/$preset

# Where matplotlib is; empty where it is nowhere.
python_with_matplotlib() {
  local python
  for python in .venv/bin/python python3; do
    if "$python" -c 'import matplotlib' 2>/dev/null; then
      echo "$python"
      return
    fi
  done
}

# Device nodes, as a container has them too; /dev/dxg is WSL's.
gpu_is_visible() {
  compgen -G '/dev/nvidia[0-9]*' >/dev/null || [[ -e /dev/dxg ]]
}

cmake_options=()

# build_targets name...: one at a time in one folder, also where two nodes share it.
build_targets() {
  local command
  for command in flock cmake ninja; do
    command -v "$command" >/dev/null ||
      wrong_usage "expected $command on PATH, found none: scripts/setup.sh says what to install"
  done
  mkdir -p "$build"
  (
    flock 9
    cmake --preset "$preset" "${cmake_options[@]}"
    cmake --build "$build" --target "$@"
  ) 9>"$build/.lock"
}
