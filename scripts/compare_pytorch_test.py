"""Tests of compare_pytorch.py without PyTorch: a stand-in whose events tell made-up times, so that
arguments, rows and ratios are checked, and nothing is measured."""

from __future__ import annotations

import contextlib
import csv
import io
import sys
import tempfile
import types
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import compare_pytorch
from compare_pytorch import Row, median_interval, operand_shapes, rows_to_compare
from run_files import read_rows

HERE = Path(__file__).resolve().parent
EXTRA = ("timestamp_utc", "rounds", "samples", "note", "achieved_flops_per_s")
COLUMNS = [*Row.__dataclass_fields__, *EXTRA]


def cells(op: str, dtype: str, **others: str | float) -> dict[str, Any]:
    """A row of ours on a "Test GPU": 4 launches over 2 copies take 2 ms each."""
    gemm = op == "gemm"
    return {
        "schema": 1,
        "run_id": "r1",
        "backend": "cuda",
        "device": "Test GPU",
        "repetition": 1,
        "op": op,
        "implementation": "cublaslt" if gemm else "ours",
        "variant": "",
        "dtype_a": dtype,
        "dtype_b": dtype,
        "dtype_out": "bf16" if dtype.startswith("fp8") else dtype,
        "compute_type": "fp32",
        "layout": "tn" if gemm else "",
        "m": 64 if op in ("gemm", "gemv") else 1,
        "n": 128,
        "k": 32 if gemm else 1,
        "batch": 1,
        "cache": "cold",
        "data": "normal",
        "flops": 1e6,
        "launches_per_sample": 4,
        "copies": 2,
        "time_median_s": 2e-3,
        "time_ci_low_s": 1.9e-3,
        "time_ci_high_s": 2.1e-3,
        "status": "ok",
        **others,
    }


class Tensor:
    def __init__(self, shape: tuple[int, ...], dtype: str) -> None:
        self.shape, self.dtype = shape, dtype

    def to(self, dtype: str) -> Tensor:
        return Tensor(self.shape, dtype)

    def t(self) -> Tensor:
        return Tensor(self.shape[::-1], self.dtype)


class StandIn(types.SimpleNamespace):
    """What compare_pytorch.py uses of torch. Each op notes its name, shapes and options in `calls`,
    the launches of a replay take `launch_s` each, and `raised` has what the op of a name raises."""

    def __init__(self, launch_s: float = 1e-3, **raised: Exception) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.emptied = 0
        self.clock_s = 0.0
        outer = self

        class Event:
            def __init__(self, enable_timing: bool) -> None:
                assert enable_timing

            def record(self) -> None:
                self.at_s = outer.clock_s

            def synchronize(self) -> None: ...

            def elapsed_time(self, end: Event) -> float:
                return (end.at_s - self.at_s) * 1e3

        class Graph:
            launches = 0

            def replay(self) -> None:
                outer.clock_s += self.launches * launch_s

        @contextlib.contextmanager
        def capture(graph: Graph, stream: None) -> Iterator[None]:
            before = len(outer.calls)
            yield
            graph.launches = len(outer.calls) - before

        def op(name: str) -> Any:  # noqa: ANN401
            def call(*operands: Tensor | float, out: Tensor | None = None, **options: Any) -> None:  # noqa: ANN401
                if name in raised:
                    raise raised[name]
                shapes = [o.shape if isinstance(o, Tensor) else o for o in operands]
                options = {k: v for k, v in options.items() if not isinstance(v, Tensor)}
                outer.calls.append((name, *shapes, out and out.shape, options))

            return call

        def empty_cache() -> None:
            outer.emptied += 1

        super().__init__(
            __version__="9.9",
            cuda=types.SimpleNamespace(
                is_available=lambda: True,
                get_device_name=lambda: "Test GPU",
                synchronize=lambda: None,
                empty_cache=empty_cache,
                OutOfMemoryError=MemoryError,
                Stream=lambda: None,
                CUDAGraph=Graph,
                Event=Event,
                stream=lambda stream: contextlib.nullcontext(),
                graph=capture,
            ),
            ops=types.SimpleNamespace(
                aten=types.SimpleNamespace(gelu=types.SimpleNamespace(out=op("gelu")))
            ),
            backends=types.SimpleNamespace(
                cuda=types.SimpleNamespace(matmul=types.SimpleNamespace(allow_tf32=None))
            ),
            randn=lambda shape, device: Tensor(shape, "float32"),
            empty=lambda shape, dtype, device: Tensor(shape, dtype),
            ones=lambda shape, dtype, device: Tensor(shape, dtype),
            **{name: op(name) for name in ("clamp_min", "dot", "mv", "matmul", "_scaled_mm")},
            **{name: name for name in compare_pytorch.TYPES.values()},
        )


class ComparePytorch(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.run_folder = Path(folder.name)
        warm = mock.patch.object(compare_pytorch, "WARM_S", 0.0)
        warm.start()
        self.addCleanup(warm.stop)

    def write(self, *rows: dict[str, Any]) -> None:
        with (self.run_folder / "measurements.csv").open("w", newline="") as file:
            out = csv.DictWriter(file, COLUMNS, restval="")
            out.writeheader()
            out.writerows(rows)

    def compare(self, torch: object) -> tuple[int, str, str]:
        out, errors = io.StringIO(), io.StringIO()
        modules = mock.patch.dict(sys.modules, {"torch": torch})
        streams = contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors)
        with modules, streams[0], streams[1]:
            code = compare_pytorch.main([str(self.run_folder)])
        return code, out.getvalue(), errors.getvalue()

    def rows(self) -> list[dict[str, str]]:
        with (self.run_folder / "pytorch.csv").open(newline="") as file:
            return list(csv.DictReader(file))

    def test_writes_our_columns_and_prints_ratios(self) -> None:
        self.write(cells("relu", "bf16"), cells("gemv", "fp8_e4m3"))
        refusal = NotImplementedError("\"mv\" not implemented for 'Float8_e4m3fn'\nat ...")
        code, out, errors = self.compare(StandIn(mv=refusal))
        self.assertEqual((code, errors), (0, ""))
        self.assertIn("relu  bf16  128  relu  2000  0.5000  [0.4762, 0.5263]\n", out)  # 1 / 2.1
        self.assertIn("-  unsupported: \"mv\" not implemented for 'Float8_e4m3fn'\n", out)
        with (self.run_folder / "pytorch.csv").open(newline="") as file:
            reader = csv.DictReader(file)
            self.assertEqual(reader.fieldnames, COLUMNS)
            relu, gemv = reader
        self.assertEqual(relu["implementation"], "pytorch")
        self.assertAlmostEqual(float(relu["time_median_s"]), 1e-3)
        self.assertAlmostEqual(float(relu["achieved_flops_per_s"]), 1e9, delta=1)
        self.assertEqual((relu["rounds"], relu["samples"]), ("10", "50"))
        self.assertEqual((gemv["status"], gemv["time_median_s"]), ("unsupported", ""))
        read_rows(self.run_folder / "pytorch.csv", Row)

    def test_what_an_op_raises_becomes_a_row_and_the_next_is_measured(self) -> None:
        for raised, status, note in (
            (RuntimeError("CUBLAS_STATUS_NOT_SUPPORTED"), "unsupported", "CUBLAS_STATUS"),
            (ValueError("Invalid scaling configuration"), "unsupported", "Invalid scaling"),
            (IndexError(), "unsupported", "IndexError()"),
            (MemoryError("CUDA out of memory"), "skipped", "CUDA out of memory"),
        ):
            self.write(cells("gemm", "fp8_e4m3"), cells("dot", "bf16"))
            torch = StandIn(_scaled_mm=raised)
            self.assertEqual(self.compare(torch)[0], 0)
            gemm, dot = self.rows()
            self.assertEqual((gemm["status"], gemm["launches_per_sample"]), (status, ""))
            self.assertIn(note, gemm["note"])
            self.assertEqual(dot["status"], "ok")
            self.assertEqual(torch.emptied, 2)  # the memory of each case, before the next

    def test_a_gpu_that_answers_no_more_ends_it_and_keeps_the_rows_before(self) -> None:
        self.write(cells("relu", "bf16"), cells("dot", "bf16"), cells("gemv", "bf16"))
        lost = RuntimeError("CUDA error: an illegal memory access was encountered\nCompile with")
        torch = StandIn(dot=lost)
        torch.cuda.synchronize = mock.Mock(side_effect=[None, None, None, lost])  # relu, dot, check
        code, _, errors = self.compare(torch)
        self.assertEqual(code, 1)
        self.assertIn("compare_pytorch.py: dot bf16 128: CUDA error: an illegal memory", errors)
        self.assertEqual(errors.count("\n"), 1)
        self.assertEqual([(row["op"], row["status"]) for row in self.rows()], [("relu", "ok")])

    def test_a_sample_is_long_enough_and_rotates_over_whole_sets_of_copies(self) -> None:
        for launch_s, copies, expected in (
            (30e-6, 2, 8),  # 60, 120, 240 us
            (200e-6, 1, 1),
            (1e-6, 3, 384),  # 3 x 128 us
            (1e-3, 5, 5),
        ):
            self.write(cells("relu", "bf16", copies=copies, launches_per_sample=7))
            self.compare(StandIn(launch_s))
            (row,) = self.rows()
            self.assertEqual(row["launches_per_sample"], str(expected))
            self.assertAlmostEqual(float(row["time_median_s"]), launch_s)

    def test_calls_each_op_with_our_shapes_and_options(self) -> None:
        fast = {"fast_accumulation": "true"}
        for row, expected in (
            (cells("relu", "fp16"), ("clamp_min", (128,), 0, (128,), {})),
            (cells("gelu", "fp16"), ("gelu", (128,), (128,), {"approximate": "tanh"})),
            (cells("gelu_erf", "fp16"), ("gelu", (128,), (128,), {"approximate": "none"})),
            (cells("dot", "fp32"), ("dot", (128,), (128,), None, {})),
            (cells("gemv", "fp32"), ("mv", (64, 128), (128,), (64,), {})),
            (cells("gemm", "bf16"), ("matmul", (64, 32), (32, 128), (64, 128), {})),
            (cells("gemm", "bf16", layout="nt"), ("matmul", (64, 32), (32, 128), (64, 128), {})),
            (
                cells("gemm", "fp8_e4m3", **fast),
                (
                    "_scaled_mm",
                    (64, 32),
                    (32, 128),
                    (64, 128),
                    {"out_dtype": "bfloat16", "use_fast_accum": True},
                ),
            ),
        ):
            torch = StandIn()
            self.write(row)
            self.assertEqual(self.compare(torch)[0], 0)
            self.assertEqual(set(map(repr, torch.calls)), {repr(expected)})
            self.assertEqual(len(torch.calls), 2 + 2)  # each copy once, then those of a sample

    def test_tf32_is_allowed_where_it_was_measured(self) -> None:
        for compute in ("fp32", "tf32"):
            torch = StandIn()
            self.write(cells("gemm", "fp32", compute_type=compute))
            self.compare(torch)
            self.assertEqual(torch.backends.cuda.matmul.allow_tf32, compute == "tf32")

    def test_takes_the_fastest_cold_normal_row_of_ours(self) -> None:
        self.write(
            cells("relu", "bf16", time_median_s=3e-3),
            cells("relu", "bf16", time_median_s=2e-3),
            cells("relu", "bf16", time_median_s=1e-3, implementation="cub"),
            cells("relu", "bf16", time_median_s=1e-3, cache="hot"),
            cells("relu", "bf16", time_median_s=1e-3, variant="t128v1-sustained"),
            cells("relu", "bf16", time_median_s=1e-3, data="zeros"),
            cells("relu", "bf16", time_median_s=1e-3, status="above_roof"),
            cells("copy", "bf16"),
        )
        rows = rows_to_compare(read_rows(self.run_folder / "measurements.csv", Row))
        self.assertEqual([row.time_median_s for row in rows], [2e-3])

    def test_one_line_and_exit_3_without_pytorch_cuda_or_the_runs_gpu(self) -> None:
        self.write(cells("relu", "bf16"))
        no_gpu, other = StandIn(), StandIn()
        no_gpu.cuda.is_available = lambda: False
        other.cuda.get_device_name = lambda: "Other GPU"
        for torch, part in (
            (None, "install PyTorch with CUDA"),
            (no_gpu, "PyTorch 9.9 sees no GPU"),
            (other, "the run is of Test GPU, PyTorch's first GPU is Other GPU"),
        ):
            code, _, errors = self.compare(torch)
            self.assertEqual(code, 3)
            self.assertIn(part, errors)
            self.assertEqual(errors.count("\n"), 1)

    def test_a_run_of_a_cpu_is_exit_3_with_the_cure(self) -> None:
        self.write(cells("relu", "bf16", backend="cpu"))
        code, _, errors = self.compare(StandIn())
        self.assertEqual((code, errors.count("\n")), (3, 1))
        self.assertIn("take a run of roofline_bench --device=cuda\n", errors)

    def test_reads_and_writes_only_columns_that_the_benchmark_has(self) -> None:
        table = (HERE.parent / "roofline" / "record.cpp").read_text(encoding="utf-8")
        row = Row(**{**dict.fromkeys(Row.__dataclass_fields__, 1), **cells("relu", "bf16")})
        for name in compare_pytorch.measure(StandIn(), row):
            self.assertRegex(table, rf'\({name}\)|"{name}"')

    def test_the_interval_is_of_order_statistics(self) -> None:
        self.assertIsNone(median_interval([1, 2, 3, 4, 5]))
        self.assertEqual(median_interval([6, 5, 4, 3, 2, 1]), (1, 6))
        self.assertEqual(median_interval(range(10)), (1, 8))  # 97.9 %

    def test_operands_lie_as_the_layout_keeps_them(self) -> None:
        for layout, x, w in (
            ("tn", (2, 4), (3, 4)),
            ("nn", (2, 4), (4, 3)),
            ("nt", (4, 2), (4, 3)),
        ):
            shape = {**cells("gemm", "bf16", layout=layout), "m": 2, "n": 3, "k": 4}
            row = Row(**{**dict.fromkeys(Row.__dataclass_fields__, ""), **shape})
            self.assertEqual(operand_shapes(row), (x, w, (2, 3)))


if __name__ == "__main__":
    unittest.main()
