#!/usr/bin/env bash
# Runs every test that this machine can run: sets up, builds, tests, says what was skipped and why.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: scripts/test.sh [--no-setup] [arguments of ctest]
  --no-setup  install nothing, for a node without network
Everything else goes to ctest, such as -R kernels or -L gpu.
exit codes: those of ctest; 2 something required is missing
TEXT
}

setup=true
arguments=()
for argument in "$@"; do
  case $argument in
    --help | -h) usage && exit ;;
    --no-setup) setup=false ;;
    *) arguments+=("$argument") ;;
  esac
done
scripts=$(dirname "$(readlink -f "$0")")
if $setup; then "$scripts/setup.sh" --tests; fi
# shellcheck source=scripts/environment.sh
source "$scripts/environment.sh"
build_targets all

code=0
ctest --preset "$preset" --output-junit tests.xml "${arguments[@]}" || code=$?
python3 scripts/junit_summary.py "$build/tests.xml"
exit "$code"
