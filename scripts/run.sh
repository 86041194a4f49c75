#!/usr/bin/env bash
# Measures this machine: sets up, builds, runs roofline_bench, draws, and prints what came out.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: scripts/run.sh [--no-setup] [arguments of roofline_bench]
  --no-setup  install nothing, for a node without network; build and measure with what is there
Everything else goes to roofline_bench, such as --device=cpu or --suite=quick; once it is built,
build/cpu/roofline_bench --help (or build/gpu/...) lists it. Paths count from the repository's root.
exit codes: those of roofline_bench; 2 something required is missing, 3 a login node is not measured
TEXT
}

setup=true
cpu_asked=false
arguments=()
for argument in "$@"; do
  case $argument in
    --help | -h) usage && exit ;;
    --no-setup) setup=false ;;
    *) arguments+=("$argument") ;;
  esac
done
if [[ " $* " == *" --device"[=\ ]"cpu "* ]]; then cpu_asked=true; fi
scripts=$(dirname "$0")
if $setup; then "$scripts/setup.sh" >&2; fi
# shellcheck source=scripts/environment.sh
source "$scripts/environment.sh"
if [[ " $* " == *" --impl"* ]]; then cmake_options+=(-DROOFLINE_CUB=ON); fi  # a peer: half a minute
build_targets roofline_bench roofline >&2

if command -v srun >/dev/null && [[ -z ${SLURM_JOB_ID:-} ]] && ! gpu_is_visible && ! $cpu_asked; then
  echo "run.sh: this looks like a login node (srun, no job, no GPU): built, not measured. Measure with" >&2
  echo "  srun --gres=gpu:1 scripts/run.sh --no-setup${arguments[*]:+ ${arguments[*]@Q}}" >&2
  exit 3
fi

# roofline_bench prints its table and says on stderr where it wrote. The tee outlives Ctrl-C, so that
# its last words are seen.
log=$(mktemp)
trap 'rm -f "$log"' EXIT
code=0
{
  "$build/roofline_bench" "${arguments[@]}" 2>&1 >&3 | (trap '' INT TERM && exec tee "$log" >&2)
} 3>&1 || code=$?
run=$(sed -n 's/^results: //p' "$log" | tail -n 1)
if [[ -z $run ]]; then
  exit "$code"
fi

python=$(python_with_matplotlib)
if [[ -z $python ]]; then
  echo "run.sh: no picture without matplotlib. Later, after scripts/setup.sh:" >&2
  echo "  .venv/bin/python scripts/plot.py roofline ${run@Q}" >&2
elif ! "$python" scripts/plot.py roofline "$run" >/dev/null; then
  echo "run.sh: the picture failed; the measurements are in $run" >&2
fi
# Verdicts that differ from the recorded ones are the reader's to see, not this command's failure.
"$build/roofline" validate "$run" >/dev/null || true
printf '%s\n' "$run"/*
exit "$code"
