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
from pathlib import Path
from typing import Any
from unittest import mock

import compare_pytorch
from compare_pytorch import Row, median_interval, operand_shapes, rows_to_compare
from run_files import read_rows

HERE = Path(__file__).resolve().parent
EXTRA = ("timestamp_utc", "variant", "rounds", "samples", "note", "achieved_flops_per_s")
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


class Event:
    def __init__(self, enable_timing: bool) -> None:
        self.enable_timing = enable_timing

    def record(self) -> None: ...

    def synchronize(self) -> None: ...

    def elapsed_time(self, end: Event) -> float:
        return 4.0  # ms, of 4 launches: 1 ms each


def stand_in(calls: list[tuple[Any, ...]]) -> types.SimpleNamespace:
    """What compare_pytorch.py uses of torch; each op notes its name, shapes and options."""

    def op(name: str) -> Any:  # noqa: ANN401
        def call(*operands: Tensor, out: Tensor, **options: Any) -> None:  # noqa: ANN401
            if name in ("relu", "mv") and operands[0].dtype.startswith("float8"):
                raise NotImplementedError(
                    f'"{name}" not implemented for {operands[0].dtype}\nat ...'
                )
            options = {k: v for k, v in options.items() if not isinstance(v, Tensor)}
            calls.append((name, *(o.shape for o in operands), out.shape, options))

        return call

    cuda = types.SimpleNamespace(
        is_available=lambda: True,
        get_device_name=lambda: "Test GPU",
        synchronize=lambda: None,
        OutOfMemoryError=MemoryError,
        Stream=lambda: None,
        CUDAGraph=lambda: types.SimpleNamespace(replay=lambda: None),
        Event=Event,
        stream=lambda stream: contextlib.nullcontext(),
        graph=lambda graph, stream: contextlib.nullcontext(),
    )
    dtypes = {name: name for name in compare_pytorch.TYPES.values()}
    aten = types.SimpleNamespace(
        relu=types.SimpleNamespace(out=op("relu")), gelu=types.SimpleNamespace(out=op("gelu"))
    )
    return types.SimpleNamespace(
        __version__="9.9",
        cuda=cuda,
        ops=types.SimpleNamespace(aten=aten),
        backends=types.SimpleNamespace(
            cuda=types.SimpleNamespace(matmul=types.SimpleNamespace(allow_tf32=None))
        ),
        randn=lambda shape, device: Tensor(shape, "float32"),
        empty=lambda shape, dtype, device: Tensor(shape, dtype),
        ones=lambda shape, dtype, device: Tensor(shape, dtype),
        dot=op("dot"),
        mv=op("mv"),
        matmul=op("matmul"),
        _scaled_mm=op("_scaled_mm"),
        **dtypes,
    )


class ComparePytorch(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.run_folder = Path(folder.name)

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

    def test_writes_our_columns_and_prints_ratios(self) -> None:
        self.write(cells("relu", "bf16"), cells("gemv", "fp8_e4m3"))
        code, out, errors = self.compare(stand_in([]))
        self.assertEqual((code, errors), (0, ""))
        self.assertIn("relu  bf16  128  relu  2000  0.5000  [0.4762, 0.5263]\n", out)  # 1 / 2.1
        self.assertIn('-  unsupported: "mv" not implemented for float8_e4m3fn\n', out)
        with (self.run_folder / "pytorch.csv").open(newline="") as file:
            reader = csv.DictReader(file)
            self.assertEqual(reader.fieldnames, COLUMNS)
            relu, gemv = reader
        self.assertEqual(relu["implementation"], "pytorch")
        self.assertEqual(float(relu["time_median_s"]), 1e-3)
        self.assertEqual(float(relu["achieved_flops_per_s"]), 1e9)
        self.assertEqual((relu["rounds"], relu["samples"]), ("10", "50"))
        self.assertEqual((gemv["status"], gemv["time_median_s"]), ("unsupported", ""))
        read_rows(self.run_folder / "pytorch.csv", Row)

    def test_calls_each_op_with_our_shapes_and_options(self) -> None:
        fast = {"fast_accumulation": "true"}
        for row, expected in (
            (cells("gelu", "fp16"), ("gelu", (128,), (128,), {"approximate": "tanh"})),
            (cells("gelu_erf", "fp16"), ("gelu", (128,), (128,), {"approximate": "none"})),
            (cells("dot", "fp32"), ("dot", (128,), (128,), (), {})),
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
            calls: list[tuple[Any, ...]] = []
            self.write(row)
            self.assertEqual(self.compare(stand_in(calls))[0], 0)
            self.assertEqual(set(map(repr, calls)), {repr(expected)})
            self.assertEqual(len(calls), 2 + 4)  # each copy once, then the launches of a sample

    def test_tf32_is_allowed_where_it_was_measured(self) -> None:
        for compute in ("fp32", "tf32"):
            torch = stand_in([])
            self.write(cells("gemm", "fp32", compute_type=compute))
            self.compare(torch)
            self.assertEqual(torch.backends.cuda.matmul.allow_tf32, compute == "tf32")

    def test_takes_the_fastest_cold_normal_row_of_ours(self) -> None:
        self.write(
            cells("relu", "bf16", time_median_s=3e-3),
            cells("relu", "bf16", time_median_s=2e-3),
            cells("relu", "bf16", time_median_s=1e-3, implementation="cub"),
            cells("relu", "bf16", time_median_s=1e-3, cache="hot"),
            cells("relu", "bf16", time_median_s=1e-3, data="zeros"),
            cells("relu", "bf16", time_median_s=1e-3, status="above_roof"),
            cells("copy", "bf16"),
        )
        rows = rows_to_compare(read_rows(self.run_folder / "measurements.csv", Row))
        self.assertEqual([row.time_median_s for row in rows], [2e-3])

    def test_one_line_and_exit_3_without_pytorch_cuda_or_the_runs_gpu(self) -> None:
        self.write(cells("relu", "bf16"))
        no_gpu, other = stand_in([]), stand_in([])
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

    def test_a_run_without_rows_for_it_is_wrong_usage(self) -> None:
        self.write(cells("relu", "bf16", backend="cpu"))
        self.assertEqual(self.compare(stand_in([]))[0], 2)
        (self.run_folder / "measurements.csv").unlink()
        self.assertEqual(self.compare(stand_in([]))[0], 2)

    def test_reads_and_writes_only_columns_that_the_benchmark_has(self) -> None:
        table = (HERE.parent / "roofline" / "record.cpp").read_text(encoding="utf-8")
        row = Row(**{**dict.fromkeys(Row.__dataclass_fields__, 1), **cells("relu", "bf16")})
        for name in compare_pytorch.measure(stand_in([]), row):
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
