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
arguments=()
for argument in "$@"; do
  case $argument in
    --help | -h) usage && exit ;;
    --no-setup) setup=false ;;
    *) arguments+=("$argument") ;;
  esac
done
asks_for() { [[ " ${arguments[*]} " == *" $1"* ]]; }
cpu_asked() { asks_for "--device=cpu " || asks_for "--device cpu "; }

# Runs it in a process group of its own: a signal to this script reaches all of it, and none twice.
signal=0
supervise() {
  local child code=0
  set -m # the group
  "$@" </dev/null &
  child=$!
  set +m # without a word on how it ended
  trap 'signal=1; kill -HUP -- "-$child"' HUP
  trap 'signal=2; kill -INT -- "-$child"' INT
  trap 'signal=15; kill -TERM -- "-$child"' TERM
  while wait "$child" 2>/dev/null || code=$?; ((code > 128)) && kill -0 "$child" 2>/dev/null; do code=0; done
  trap 'exit 129' HUP # by default bash would skip its own EXIT trap
  trap 'exit 130' INT
  trap 'exit 143' TERM
  if ((signal)); then exit $((128 + signal)); fi
  return "$code"
}

scripts=$(dirname "$(readlink -f "$0")")
if $setup; then supervise "$scripts/setup.sh" >&2; fi
# shellcheck source=scripts/environment.sh
source "$scripts/environment.sh"
if [[ $preset == gpu ]] && asks_for --impl && ! cpu_asked; then
  cmake_options+=(-DROOFLINE_CUB=ON) # a peer: half a minute
fi
supervise build_targets roofline_bench roofline >&2

if command -v srun >/dev/null && [[ -z ${SLURM_JOB_ID:-} ]] && ! gpu_is_visible && ! cpu_asked &&
  ! asks_for --dry-run; then
  # What is wrong with the arguments is said here, and not after a wait in the queue.
  code=0
  said=$("$build/roofline_bench" --dry-run "${arguments[@]}" 2>&1 >/dev/null) || code=$?
  if ((code == 2)); then
    echo "$said" >&2
    exit 2
  fi
  echo "run.sh: this looks like a login node (srun, no job, no GPU): built, not measured. Measure with" >&2
  echo "  srun --gres=gpu:1 scripts/run.sh --no-setup${arguments[*]:+ ${arguments[*]@Q}}" >&2
  exit 3
fi

# roofline_bench prints its table and says on stderr where it wrote. Signals are for it alone, so that
# its last words are seen.
log=
trap 'rm -f "$log"' EXIT
log=$(mktemp)
# shellcheck disable=SC2317 # supervise calls it
measure() {
  trap : HUP INT TERM
  {
    "$build/roofline_bench" "${arguments[@]}" 2>&1 >&3 |
      (trap '' HUP INT TERM && exec tee "$log" >&2)
  } 3>&1
}
code=0
supervise measure || code=$?
run=$(sed -n 's/^results: //p' "$log" | tail -n 1)
if [[ -z $run ]]; then
  exit "$code"
fi

# Verdicts that differ from the recorded ones are the reader's to see, not this command's failure.
supervise "$build/roofline" validate "$run" >/dev/null || true
python=$(python_with_matplotlib)
if [[ -z $python ]]; then
  echo "run.sh: no picture without matplotlib. Later, after scripts/setup.sh:" >&2
  echo "  .venv/bin/python scripts/plot.py all ${run@Q}" >&2
else
  supervise "$python" scripts/plot.py all "$run" >/dev/null || true # it says why there is none
fi
printf '%s\n' "$run"/*
exit "$code"
