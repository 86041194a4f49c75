#!/usr/bin/env python3
"""Times PyTorch on the cases of a run of ours, on the GPU of that run, and prints the ratios.

Each op (relu, gelu, dot, mv, matmul, _scaled_mm) gets the shape, the types and as many rotating
copies as our row, its launches in a CUDA graph between two events, in rounds. RUN/pytorch.csv has
the columns of measurements.csv; `ratio` is PyTorch's time over ours: below 1 PyTorch is ahead.
Exit codes: 0 compared, 1 a file is bad or could not be written, or the GPU answers no more, 2 wrong
usage, 3 no PyTorch with CUDA, or not the GPU of the run, or a run without rows of a GPU."""

from __future__ import annotations

import argparse
import csv
import dataclasses
import importlib
import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, NamedTuple

from run_files import RunError, UnavailableError, exit_code, read_rows

ROUNDS = 10  # order statistics of 5 cannot cover 95 %, those of 10 cover 97.9 %
SAMPLES = 5  # in a round
SAMPLE_S = 200e-6  # at least, as ours: the resolution of an event is 0.25 % of it
WARM_S = 0.5  # as long as ours settle: clocks rise, and fall where the power is at its limit
TYPES = {
    "fp32": "float32",
    "fp16": "float16",
    "bf16": "bfloat16",
    "fp8_e4m3": "float8_e4m3fn",
    "fp8_e5m2": "float8_e5m2",
}


@dataclass(frozen=True)
class Row:
    """A row of measurements.csv: its case, and what the comparison needs of its times."""

    schema: int
    run_id: str
    host: str
    backend: str
    device: str
    device_uuid: str
    repetition: int
    op: str
    implementation: str
    variant: str
    dtype_a: str
    dtype_b: str
    dtype_out: str
    compute_type: str
    layout: str
    scale_mode: str
    fast_accumulation: str
    m: int
    n: int
    k: int
    batch: int
    cache: str
    data: str
    flops: float | None
    bytes_read: float | None
    bytes_written: float | None
    intensity_flops_per_byte: float | None
    launches_per_sample: float | None
    copies: float | None
    time_median_s: float | None
    time_ci_low_s: float | None
    time_ci_high_s: float | None
    status: str

    @property
    def dtype(self) -> str:
        return "tf32" if self.compute_type == "tf32" else self.dtype_a

    @property
    def shape(self) -> str:
        sizes = {"gemm": (self.m, self.n, self.k), "gemv": (self.m, self.n)}.get(self.op, (self.n,))
        return "x".join(str(size) for size in sizes)

    @property
    def case(self) -> tuple[Any, ...]:
        types = (self.dtype_a, self.dtype_b, self.compute_type, self.fast_accumulation)
        return (self.op, *types, self.layout, self.m, self.n, self.k)


# ---- what is compared ----------------------------------------------------------------------------


def rows_to_compare(rows: Sequence[Row]) -> list[Row]:
    """Of each case that PyTorch has an op for, the fastest of our cold rows on normal data; no
    sustained one, whose card is hotter."""
    best: dict[tuple[Any, ...], Row] = {}
    for row in rows:
        peer = row.op != "gemm" and row.implementation != "ours"
        measured = row.status in ("ok", "noisy") and row.time_median_s
        cold = row.cache == "cold" and row.data == "normal" and "-sustained" not in row.variant
        if row.backend != "cuda" or row.op not in OPS or row.batch != 1 or peer or not measured:
            continue
        if cold and (row.case not in best or seconds(row) < seconds(best[row.case])):
            best[row.case] = row
    return list(best.values())


def seconds(row: Row) -> float:
    return row.time_median_s or math.inf


# ---- PyTorch's ops -------------------------------------------------------------------------------

Torch = Any  # the module, which need not be there for this file to be read, checked and tested
Tensor = Any
Launch = Callable[[], Any]
Graph = Any


class Operands(NamedTuple):
    """One copy. All ops write into `out`: an output of PyTorch's own would lie in the same memory
    each time, and stay in the cache."""

    a: Tensor
    b: Tensor
    out: Tensor


def relu(torch: Torch, row: Row, at: Operands) -> Launch:
    """The kernel of torch.relu, whose own `out` form is a relu and then a copy."""
    return lambda: torch.clamp_min(at.a, 0, out=at.out)


def gelu(torch: Torch, row: Row, at: Operands) -> Launch:
    approximate = "tanh" if row.op == "gelu" else "none"
    return lambda: torch.ops.aten.gelu.out(at.a, approximate=approximate, out=at.out)


def dot(torch: Torch, row: Row, at: Operands) -> Launch:
    """Without `out`, which costs a second kernel, for a number that no cache need hold."""
    return lambda: torch.dot(at.a, at.b)


def mv(torch: Torch, row: Row, at: Operands) -> Launch:
    return lambda: torch.mv(at.a, at.b, out=at.out)


def matmul(torch: Torch, row: Row, at: Operands) -> Launch:
    x = at.a.t() if row.layout == "nt" else at.a
    w = at.b.t() if row.layout == "tn" else at.b
    if not row.dtype_a.startswith("fp8"):
        return lambda: torch.matmul(x, w, out=at.out)
    one = torch.ones((), dtype=torch.float32, device="cuda")
    fast = row.fast_accumulation == "true"
    return lambda: torch._scaled_mm(
        x, w, scale_a=one, scale_b=one, out_dtype=at.out.dtype, use_fast_accum=fast, out=at.out
    )


OPS: dict[str, tuple[str, Callable[..., Launch]]] = {
    "relu": ("relu", relu),
    "gelu": ("gelu tanh", gelu),
    "gelu_erf": ("gelu", gelu),
    "dot": ("dot", dot),
    "gemv": ("mv", mv),
    "gemm": ("matmul", matmul),
}


def function_name(row: Row) -> str:
    scaled = row.op == "gemm" and row.dtype_a.startswith("fp8")
    return "_scaled_mm" if scaled else OPS[row.op][0]


def operand_shapes(row: Row) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Of a, b and out, as they lie in memory; b of an elementwise op is empty."""
    if row.op == "gemm":
        x = (row.k, row.m) if row.layout == "nt" else (row.m, row.k)
        w = (row.n, row.k) if row.layout == "tn" else (row.k, row.n)
        return x, w, (row.m, row.n)
    if row.op == "gemv":
        return (row.m, row.n), (row.n,), (row.m,)
    return (row.n,), (row.n,) if row.op == "dot" else (0,), () if row.op == "dot" else (row.n,)


def launches(torch: Torch, row: Row) -> list[Launch]:
    """One for each copy of the operands. torch.dot and torch.mv return the type of their inputs."""
    a_shape, b_shape, out_shape = operand_shapes(row)
    a_type, b_type = (getattr(torch, TYPES[t]) for t in (row.dtype_a, row.dtype_b))
    out_type = getattr(torch, TYPES[row.dtype_out]) if row.op == "gemm" else a_type
    torch.backends.cuda.matmul.allow_tf32 = row.compute_type == "tf32"
    made = []
    for _ in range(int(row.copies or 1)):
        a = torch.randn(a_shape, device="cuda").to(a_type)
        b = torch.randn(b_shape, device="cuda").to(b_type)
        out = torch.empty(out_shape, dtype=out_type, device="cuda")
        made.append(OPS[row.op][1](torch, row, Operands(a, b, out)))
    return made


# ---- time ----------------------------------------------------------------------------------------


def round_medians(torch: Torch, row: Row) -> tuple[int, list[float]]:
    """How many launches a sample had, and the seconds of one. The launches of a sample are one CUDA
    graph, as ours are, and rotate over all copies as often as a sample needs to be long enough."""
    torch.cuda.empty_cache()  # of the case before
    copies = launches(torch, row)
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):  # what runs first may allocate and choose algorithms
        for launch in copies:
            launch()
    torch.cuda.synchronize()

    def graph_of(rotations: int) -> Graph:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            for _ in range(rotations):
                for launch in copies:
                    launch()
        return graph

    rotations, graph = 1, graph_of(1)
    warm = time.monotonic() + WARM_S
    while time.monotonic() < warm:
        replay_seconds(torch, graph)
    while replay_seconds(torch, graph) < SAMPLE_S:
        rotations *= 2
        graph = graph_of(rotations)
    count = rotations * len(copies)

    def sample() -> float:
        return replay_seconds(torch, graph) / count

    return count, [statistics.median(sample() for _ in range(SAMPLES)) for _ in range(ROUNDS)]


def replay_seconds(torch: Torch, graph: Graph) -> float:
    """Of the second of two replays: the GPU is at the first while the host enqueues it, so that no
    launch from the host lies between the events."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    graph.replay()
    begin.record()
    graph.replay()
    end.record()
    end.synchronize()
    return float(begin.elapsed_time(end)) * 1e-3


def median_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """The order statistics that cover the median with 95 %; none for fewer than 6 values. Source:
    Conover, Practical Nonparametric Statistics, 3rd ed., section 3.2."""
    n = len(values)
    cut, tail = 0, 0.0
    while cut < n // 2 and tail + math.comb(n, cut) / 2**n <= 0.025:
        tail += math.comb(n, cut) / 2**n
        cut += 1
    ordered = sorted(values)
    return (ordered[cut - 1], ordered[n - cut]) if cut else None


# ---- rows ----------------------------------------------------------------------------------------

Cells = dict[str, Any]


def measure(torch: Torch, row: Row) -> Cells:
    """A row of pytorch.csv. What PyTorch does not compute is `unsupported`, with its own words; it
    has no one type of exception for that. Raises RunError where the GPU answers no more."""
    keep = {f.name: getattr(row, f.name) for f in dataclasses.fields(Row)}
    cells: Cells = {
        **{name: v for name, v in keep.items() if not name.startswith(("time_", "launches_"))},
        "timestamp_utc": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "implementation": "pytorch",
        "variant": function_name(row),
        "numerical_impl": f"torch {torch.__version__}",
    }
    try:
        count, medians = round_medians(torch, row)
    except Exception as refusal:
        full = isinstance(refusal, torch.cuda.OutOfMemoryError)
        note = (str(refusal).strip().splitlines() or [repr(refusal)])[0]
        try:
            torch.cuda.synchronize()
        except Exception:  # after an illegal access, say: whatever is called next fails, too
            raise RunError(
                f"{function_name(row)} {row.dtype} {row.shape}: {note}: the GPU answers no more; "
                "what was measured before is kept"
            ) from None
        return {**cells, "status": "skipped" if full else "unsupported", "note": note}
    time_s = statistics.median(medians)
    low, high = median_interval(medians) or (None, None)
    moved = (row.bytes_read or 0) + (row.bytes_written or 0)
    return {
        **cells,
        "launches_per_sample": count,
        "samples": ROUNDS * SAMPLES,
        "rounds": ROUNDS,
        "time_median_s": time_s,
        "time_ci_low_s": low,
        "time_ci_high_s": high,
        "achieved_flops_per_s": row.flops / time_s if row.flops else None,
        "achieved_bytes_per_s": moved / time_s if moved else None,
        "status": "ok",
        "note": "not verified",
    }


def ratio(theirs: Cells, ours: Row) -> str:
    """PyTorch's time over ours, and the widest that both intervals allow."""
    time_s = theirs.get("time_median_s")
    if not time_s:
        return f"-  {theirs['status']}: {theirs['note']}"
    text = f"{time_s / seconds(ours):.4f}"
    low, high = theirs["time_ci_low_s"], theirs["time_ci_high_s"]
    if low and high and ours.time_ci_low_s and ours.time_ci_high_s:
        text += f"  [{low / ours.time_ci_high_s:.4f}, {high / ours.time_ci_low_s:.4f}]"
    return text


def write(path: Path, columns: Sequence[str], rows: Sequence[Cells]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.DictWriter(file, columns, restval="", lineterminator="\n")
        out.writeheader()
        out.writerows(
            {c: "" if r.get(c) is None else r[c] for c in columns if c in r} for r in rows
        )


def columns_of(path: Path) -> list[str]:
    with path.open(encoding="utf-8", newline="") as file:
        return next(csv.reader(file), [])


# ---- command line --------------------------------------------------------------------------------


def torch_with_cuda(device: str) -> Torch:
    """The torch module, its current GPU the run's. Raises UnavailableError."""
    try:
        torch = importlib.import_module("torch")
    except (ImportError, OSError) as missing:  # OSError: one of its own libraries is missing
        raise UnavailableError(
            f"{missing}: install PyTorch with CUDA, https://pytorch.org"
        ) from None
    if not torch.cuda.is_available():
        raise UnavailableError(
            f"PyTorch {torch.__version__} sees no GPU: it or its driver lacks CUDA"
        )
    name = torch.cuda.get_device_name()
    if name != device:
        raise UnavailableError(f"the run is of {device}, PyTorch's first GPU is {name}")
    return torch


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="compare_pytorch.py", description=__doc__)
    parser.add_argument("run", type=Path, metavar="RUN", help="folder of a run on this GPU")
    arguments = parser.parse_args(argv)
    measurements, out = arguments.run / "measurements.csv", arguments.run / "pytorch.csv"

    def compare() -> None:
        ours = rows_to_compare(read_rows(measurements, Row))
        if not ours:
            raise UnavailableError(
                f"{measurements}: expected cold rows of a GPU on normal data ({', '.join(OPS)}), "
                "found none that was measured: take a run of roofline_bench --device=cuda"
            )
        torch = torch_with_cuda(ours[0].device)
        columns = columns_of(measurements)
        rows: list[Cells] = []
        print("op  dtype  shape  variant  ours_us  ratio  [95 %]")
        for row in ours:
            rows.append(measure(torch, row))
            words = (row.op, row.dtype, row.shape, rows[-1]["variant"], f"{seconds(row) * 1e6:.4g}")
            print("  ".join((*words, ratio(rows[-1], row))), flush=True)
            write(out, columns, rows)
        print(out)

    return exit_code("compare_pytorch.py", compare)


if __name__ == "__main__":
    raise SystemExit(main())
