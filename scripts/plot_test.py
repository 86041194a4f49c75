"""Tests of plot.py on synthetic runs of a "Test GPU" and a "Test CPU"."""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import io
import itertools
import os
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Union

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text

import plot
from labels import Labels
from run_files import Measurement, RidgeFit, Roof, RunError, read_run
from sheet import KEY, STYLE, WIDTH, si

HERE = Path(__file__).resolve().parent
Cells = dict[str, Union[str, float]]

H100_LIKE = {
    "tf32": 494.7e12,
    "fp16": 989.5e12,
    "bf16": 989.5e12,
    "fp8_e4m3": 1979e12,
    "fp8_e5m2": 1979e12,
}


def roof(kind: str, name: str, **cells: str | float) -> Cells:
    return {"run_id": "r1", "kind": kind, "name": name, "source": "synthetic", **cells}


def memory_roof(kind: str, access: str, bytes_per_s: float, level: str = "memory") -> Cells:
    return roof(kind, access or "hbm", level=level, access=access, bytes_per_s=bytes_per_s)


def compute_roof(kind: str, pipe: str, dtype: str, flops_per_s: float) -> Cells:
    return roof(kind, f"{pipe}_{dtype}", pipe=pipe, dtype=dtype, flops_per_s=flops_per_s)


GPU_ROOFS = [
    memory_roof("datasheet", "", 3.35e12),
    memory_roof("derived", "", 3.352e12),
    compute_roof("datasheet", "vector", "fp32", 67e12),
    compute_roof("derived", "vector", "fp32", 66.9e12),
    *(compute_roof("datasheet", "matrix", d, peak) for d, peak in H100_LIKE.items()),
    *(compute_roof("measured", "matrix", d, 0.75 * peak) for d, peak in H100_LIKE.items()),
    compute_roof("measured", "vector", "fp32", 60e12),
    memory_roof("measured", "read", 3.18e12),
    memory_roof("measured", "copy", 3.05e12),
    memory_roof("measured", "read", 5.6e12, level="cache"),
]
CPU_ROOFS = [
    memory_roof("measured", "read", 11e9),
    memory_roof("measured", "read", 31e9, level="cache"),
    compute_roof("measured", "vector", "fp32", 121e9),
    compute_roof("measured", "matrix", "bf16", 242e9),
]


def point(op: str, dtype: str, intensity: float, flops_per_s: float, **cells: str | float) -> Cells:
    stored = "fp32" if dtype == "tf32" else dtype
    return {
        "run_id": "r1",
        "timestamp_utc": "2026-01-31T12:00:00Z",
        "backend": "cuda",
        "device": "Test GPU",
        "device_uuid": "GPU-0",
        "op": op,
        "implementation": "cublaslt" if op == "gemm" else "ours",
        "dtype_a": stored,
        "dtype_b": stored,
        "compute_type": "tf32" if dtype == "tf32" else "fp32",
        **dict.fromkeys(("m", "n", "k"), 4096),
        "batch": 1,
        "cache": "cold",
        "data": "normal",
        "intensity_flops_per_byte": intensity,
        "achieved_flops_per_s": flops_per_s,
        "achieved_bytes_per_s": flops_per_s / intensity if intensity else "",
        "status": "ok",
        **cells,
    }


def forty_points() -> list[Cells]:
    """Five memory-bound ops in five dtypes, crowded on the slope, and 15 GEMMs."""
    dtypes = ("fp32", "fp16", "bf16", "fp8_e4m3", "fp8_e5m2")
    slopes = {"relu": 0.125, "gelu": 2.5, "dot": 0.25, "gemv": 0.5, "gelu_erf": 2.5}
    slope = [
        point(op, d, intensity * 2**i, intensity * 2**i * 3e12)
        for op, intensity in slopes.items()
        for i, d in enumerate(dtypes)
    ]
    gemms = [
        point("gemm", d, n / 3, 0.7 * peak, m=n, n=n, k=n)
        for d, peak in H100_LIKE.items()
        for n in (2048, 4096, 8192)
    ]
    return slope + gemms


def write_csv(path: Path, row_type: type, rows: Iterable[Cells]) -> None:
    columns = ["schema", *(f.name for f in dataclasses.fields(row_type))]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows({"schema": 1, **row} for row in rows)


def points_of(line: Line2D) -> list[tuple[float, float]]:
    xy: Any = line.get_xydata()
    return [(float(x), float(y)) for x, y in xy]


class PlotTest(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.run_folder = Path(temporary.name) / "run"
        self.run_folder.mkdir()

    def write_run(self, points: Iterable[Cells], roofs: Iterable[Cells] = GPU_ROOFS) -> None:
        write_csv(self.run_folder / "measurements.csv", Measurement, points)
        write_csv(self.run_folder / "roofs.csv", Roof, roofs)

    def plot(self, picture: str = "roofline", *flags: str) -> tuple[int, str]:
        """Exit code and standard error."""
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(io.StringIO()):
            code = plot.main([picture, str(self.run_folder), *flags])
        return code, errors.getvalue()

    def draw(self, picture: str = "roofline") -> Figure:
        with matplotlib.rc_context(), contextlib.redirect_stderr(io.StringIO()):
            matplotlib.rcParams.update(STYLE)
            figure = plot.PICTURES[picture](read_run(self.run_folder))
            canvas: Any = FigureCanvasAgg(figure)
            canvas.draw()
        return figure

    def said(self, picture: str = "roofline") -> list[str]:
        """Every text of the picture."""
        return [t.get_text() for t in self.draw(picture).findobj(Text) if isinstance(t, Text)]

    # ---- what the picture says

    def test_names_device_date_ridge_points_roofs_and_points(self) -> None:
        self.write_run(forty_points())
        said = self.said()
        for text in (
            "Test GPU",
            "Roofline · cuda · measured 2026-01-31",
            "ridge bf16, fp16: 295 FLOP/byte",  # 989.5 / 3.35 = 295.4
            "ridge fp8_e4m3, fp8_e5m2: 591 FLOP/byte",  # 1979 / 3.35 = 590.7
            "ridge fp32: 20 FLOP/byte",  # 67 / 3.35
            "HBM 3.35 TB/s data sheet",
            "read 3.18, copy 3.05 TB/s measured",
            "L2 read 5.6 TB/s measured",
            "989.5 TFLOP/s data sheet\nbf16, fp16 tensor cores",
            "relu fp32",
            "gemm bf16 8192³",
            "arithmetic intensity (FLOP/byte)",
            "achieved FLOP/s",
        ):
            self.assertIn(text, said)
        self.assertFalse([t for t in said if "derived" in t])  # the data sheet says it all

    def test_a_cpu_run_names_no_part_of_a_gpu(self) -> None:
        cpu = {"backend": "cpu", "device": "Test CPU", "device_uuid": ""}
        self.write_run(
            [point("relu", "fp32", 0.125, 1e9, **cpu), point("gemm", "bf16", 1e3, 2e11, **cpu)],
            CPU_ROOFS,
        )
        said = " ".join(self.said())
        self.assertIn("Roofline · cpu", said)
        self.assertIn("ridge bf16: 22 FLOP/byte", said)  # 242 / 11, both measured
        self.assertIn("matrix units", said)
        for word in ("SM", "HBM", "L2", "CUDA", "cuda", "tensor", "GPU", "theoretical"):
            self.assertNotIn(word, said)

    def test_derived_roofs_stand_in_for_an_unknown_data_sheet(self) -> None:
        self.write_run(
            [point("gemm", "bf16", 1e3, 6e14)],
            [memory_roof("derived", "", 3e12), compute_roof("derived", "matrix", "bf16", 900e12)],
        )
        said = self.said()
        self.assertIn("HBM 3 TB/s derived", said)
        self.assertIn("ridge bf16: 300 FLOP/byte", said)

    def test_names_a_point_no_longer_than_needed(self) -> None:
        self.write_run(
            [
                point("relu", "bf16", 0.25, 7e11),
                point("dot", "bf16", 0.5, 7e11, n=2**28),
                point("dot", "bf16", 0.5, 8e11, n=1000, cache="hot"),
                point("gemv", "fp32", 0.5, 7e11, data="zeros"),
                point("gemm", "bf16", 99, 7e11, m=1, variant="first"),
                point("gemm", "bf16", 99, 8e11, m=1, variant="best"),
                point("gemm", "bf16", 99, 8e11, m=1, batch=8, layout="nt"),
            ]
        )
        said = self.said()
        for text in (
            "relu bf16",
            "dot bf16 256Mi",
            "dot bf16 1000 hot",
            "gemv fp32 zeros",
            "gemm bf16 1×4096×4096 first",
            "gemm bf16 1×4096×4096 best",
            "gemm bf16 8×1×4096×4096 nt",
        ):
            self.assertIn(text, said)

    def test_rows_that_measure_the_roofs_are_no_points(self) -> None:
        self.write_run(
            [point("relu", "fp32", 0.125, 4e11), point("triad", "fp32", 1 / 6, 5e11),
             point("copy", "fp32", 0, 0)]
        )  # fmt: skip
        code, errors = self.plot()
        self.assertEqual((code, errors), (0, ""))
        self.assertFalse({"triad fp32", "copy fp32"} & set(self.said()))

    # ---- legibility

    def test_labels_of_forty_points_do_not_cover_each_other(self) -> None:
        self.write_run(forty_points())
        figure = self.draw()
        axes = figure.axes[0]
        renderer = Labels(axes).renderer
        numbers = [t for t in axes.texts if t.get_text().isdigit()]
        self.assertEqual(len(numbers), 40)
        level = [t for t in axes.texts if t.get_rotation() == 0]
        boxes = [(t.get_text(), Text.get_window_extent(t, renderer)) for t in level]
        for (a, box_a), (b, box_b) in itertools.combinations(boxes, 2):
            self.assertFalse(box_a.overlaps(box_b), f"{a!r} covers {b!r}")

    def test_the_names_in_the_key_do_not_reach_its_values(self) -> None:
        self.write_run([
            point("gemm", "fp8_e4m3", 99 + i, 7e14, m=16384 + i, n=16896, k=16384, data="integers")
            for i in range(40)
        ])  # fmt: skip
        key = self.draw().axes[1]
        renderer = Labels(key).renderer
        names = [t for t in key.texts if t.get_text().startswith("gemm")]
        values = [t for t in key.texts if t.get_text().endswith("FLOP/s")]
        self.assertEqual((len(names), len(values)), (40, 40))
        for name, value in zip(names, values):
            self.assertLess(
                name.get_window_extent(renderer).x1, value.get_window_extent(renderer).x0
            )

    def test_dtypes_differ_in_colour_and_in_fill(self) -> None:
        self.write_run(forty_points())
        looks = {
            (line.get_color(), line.get_fillstyle())
            for line in self.draw().axes[0].lines
            if line.get_marker() in ("o", "s") and line.get_markersize() == 8
        }
        self.assertEqual(len(looks), 6)
        self.assertEqual(len({colour for colour, _ in looks}), 6)
        self.assertEqual(len({fill for _, fill in looks}), 6)

    def test_theoretical_roofs_are_solid_and_measured_ones_dashed(self) -> None:
        self.write_run([point("gemm", "bf16", 1e3, 6e14)])
        flat = {
            points[0][1]: line.is_dashed()
            for line in self.draw().axes[0].lines
            for points in [points_of(line)]
            if len(points) == 2 and points[0][1] == points[1][1]
        }
        self.assertEqual(flat, {989.5e12: False, 0.75 * 989.5e12: True})

    def test_of_measured_roofs_of_one_pipe_and_type_the_fastest_is_drawn(self) -> None:
        roofs = [compute_roof("measured", "matrix", "bf16", p) for p in (900e12, 700e12)]
        self.write_run(
            [point("gemm", "bf16", 1e3, 6e14)], [memory_roof("measured", "read", 1e12), *roofs]
        )
        said = " ".join(self.said())
        self.assertIn("900 TFLOP/s measured", said)
        self.assertNotIn("700 TFLOP/s measured", said)

    def test_mma_rows_are_drawn_as_roofs(self) -> None:
        self.write_run([point("gemm", "bf16", 1e3, 6e14), point("mma", "bf16", 6e4, 9e14)])
        self.assertNotIn("mma", " ".join(self.said()))

    def test_axes_and_roofs_reach_the_farthest_points(self) -> None:
        self.write_run([point("relu", "fp32", 1e-3, 1e9), point("gemm", "bf16", 1e6, 6e14)])
        axes = self.draw().axes[0]
        left, right = axes.get_xlim()
        self.assertLess(left, 1e-3)
        self.assertGreater(right, 1e6)
        roofs = [xy for xy in map(points_of, axes.lines) if len(xy) == 2]
        self.assertEqual(min(x for xy in roofs for x, _ in xy), left)
        self.assertEqual(max(x for xy in roofs for x, _ in xy), right)

    def test_a_memory_roof_is_seen_over_slow_points_without_a_compute_roof(self) -> None:
        self.write_run([point("relu", "fp32", 0.1, 1e9)], [memory_roof("measured", "read", 1e12)])
        self.assertGreater(self.draw().axes[0].get_ylim()[1], 0.1 * 1e12)

    def test_a_roof_that_ends_left_of_the_picture_is_left_out(self) -> None:
        roofs = [*CPU_ROOFS, memory_roof("measured", "copy", 1e15, level="cache")]
        self.write_run([point("gemm", "bf16", 1e3, 2e11)], roofs)
        said = self.said()
        self.assertNotIn("L2 copy 1000 TB/s measured", said)
        self.assertIn("read 11 GB/s measured", said)

    def test_roofs_that_are_close_share_a_line_but_not_a_ridge(self) -> None:
        self.write_run(
            [point("gemm", "bf16", 1e3, 6e14), point("gemm", "fp16", 1e3, 6e14)],
            [
                memory_roof("measured", "read", 2e12),
                compute_roof("measured", "matrix", "bf16", 700e12),
                compute_roof("measured", "matrix", "fp16", 720e12),
            ],
        )
        said = self.said()
        self.assertIn("720, 700 TFLOP/s measured\nfp16, bf16 tensor cores", said)
        self.assertIn("ridge bf16: 350 FLOP/byte", said)
        self.assertIn("ridge fp16: 360 FLOP/byte", said)

    def test_a_key_of_more_than_forty_points_has_more_columns(self) -> None:
        sweep = [point("gemm", "bf16", m, m * 1e12, m=m) for m in range(1, 42)]
        self.write_run(sweep)
        wide = self.draw("ridge").get_figwidth()
        self.write_run(sweep[:40])
        self.assertAlmostEqual(wide - self.draw("ridge").get_figwidth(), KEY)
        self.assertGreater(WIDTH, KEY)

    def test_of_more_than_forty_points_the_fastest_of_each_op_and_dtype_are_listed(self) -> None:
        slower = [point("relu", "fp32", 0.125, 1e11 + n, n=n) for n in range(40)]
        best = point("relu", "fp32", 0.125, 4e11, n=2**28, status="noisy")
        faster: Cells = {**best, "achieved_flops_per_s": 5e11, "n": 2**29}
        relu = "relu fp32 256Mi"
        for name, other, listed in (
            ("a peer", {**faster, "implementation": "cub"}, [relu]),
            ("hot", {**faster, "cache": "hot"}, [relu]),
            ("of zeros", {**faster, "data": "zeros"}, [relu]),
            ("impossible", {**faster, "status": "above_roof"}, [relu, "relu fp32 512Mi"]),
            ("of another dtype", point("relu", "bf16", 1, 1e9), [relu, "relu bf16"]),
            (
                "a peer alone",
                point("dot", "fp32", 1, 1e9, implementation="cub"),
                [relu, "dot fp32"],
            ),
            ("hot alone", point("dot", "fp32", 1, 1e9, cache="hot"), [relu, "dot fp32 hot"]),
            (
                "a library's GEMM",
                point("gemm", "fp8_e4m3", 99, 1e15, fast_accumulation="true"),
                [relu, "gemm fp8_e4m3 fast"],
            ),
        ):
            with self.subTest(name):
                self.write_run([best, *slower, other])
                figure = self.draw()
                axes, key = figure.axes
                said = [t.get_text() for t in key.texts]
                self.assertEqual([t for t in said if t.startswith(("relu", "dot", "gemm"))], listed)
                labels = [t.get_text() for t in axes.texts if t.get_text().isdigit()]
                self.assertEqual(labels, [str(i + 1) for i in range(len(listed))])
                sizes = Counter(line.get_markersize() for line in axes.lines)
                rest = 42 - len(listed)
                self.assertEqual((sizes[8], sizes[5]), (len(listed), rest))
                note = f"Small and pale: the other {rest} rows"
                self.assertTrue([t for t in figure.texts if t.get_text().endswith(note)])

    def test_the_notes_name_a_source_once_and_stay_on_the_page(self) -> None:
        sheet = "Test data sheet, SXM; packed types: Test whitepaper"
        sources = [sheet, f"1979 with 2:4 sparsity / 2; {sheet}", f"{'word ' * 60}; {sheet}"]
        link = {**memory_roof("derived", "", 63e9, level="link"), "source": "lanes"}
        matrix = compute_roof("datasheet", "matrix", "bf16", 989.5e12)
        self.write_run(
            [
                point("relu", "fp32", 0.125, 4e11, status="noisy"),
                point("gemm", "bf16", 1e3, 6e14, status="above_roof"),
                point("gelu", "bf16", 5, 0, status="unsupported", achieved_flops_per_s=""),
            ],
            [
                link,
                *(
                    {**r, "source": s}
                    for r, s in zip((GPU_ROOFS[0], GPU_ROOFS[2], matrix), sources)
                ),
            ],
        )
        figure = self.draw()
        renderer = Labels(figure.axes[0]).renderer
        said = " ".join(t.get_text() for t in figure.texts)
        for source in ("Test data sheet, SXM", "packed types: Test whitepaper", "1979 with"):
            self.assertEqual(said.count(source), 1, source)
        self.assertNotIn("lanes", said)  # no point is counted against the link
        for text in figure.texts:
            box = text.get_window_extent(renderer)
            self.assertLess(box.x1, figure.bbox.x1, text.get_text())
            self.assertGreater(box.y0, 0, text.get_text())

    # ---- odd rows

    def test_impossible_points_are_ringed_and_missing_ones_counted(self) -> None:
        self.write_run(
            [
                point("relu", "fp32", 0.125, 4e11),
                point("dot", "fp16", 0.5, 5e12, status="above_roof", fraction_of_roof=3.12),
                point("dot", "fp32", 0.25, 5e11, status="noisy"),
                point("gelu", "bf16", 5, 0, status="unsupported", achieved_flops_per_s=""),
                point("gelu", "fp16", 5, 0, status="failed", achieved_flops_per_s=""),
                point("gelu", "fp32", 5, 0),
                point("gelu", "fp32", 5, -1),
                point("gelu", "fp32", 5, 1, intensity_flops_per_byte=""),
            ]
        )
        code, errors = self.plot()
        self.assertEqual(code, 0)
        self.assertIn("1 above_roof", errors)
        missing = "Not drawn: 1 unsupported, 1 failed, 3 without a positive intensity and rate"
        self.assertIn(missing, errors)
        said = self.said()
        self.assertIn(missing, said)
        self.assertIn("312%", said)
        self.assertIn("~500 GFLOP/s", said)
        self.assertIn("~ noisy: the interval of the time is wider than asked for", said)
        rings = [line for line in self.draw().axes[0].lines if line.get_markersize() == 16]
        self.assertEqual([points_of(r) for r in rings], [[(0.5, 5e12)]])

    def test_odd_device_names_are_drawn(self) -> None:
        for name in ('A, "B" $x$ <&>', "line\nbreak", "Ünïcode", "", "x" * 300):
            with self.subTest(name=name):
                self.write_run([point("relu", "fp32", 0.125, 4e11, device=name)])
                self.assertEqual(self.plot()[0], 0)

    def test_draws_where_one_kind_of_roof_is_unknown(self) -> None:
        for name, roofs in (
            ("memory", [memory_roof("measured", "read", 3e12)]),
            ("compute", [compute_roof("datasheet", "vector", "fp32", 67e12)]),
            ("valueless", [memory_roof("measured", "read", 3e12), roof("derived", "hbm")]),
            ("any", []),
        ):
            with self.subTest(name):
                self.write_run([point("relu", "fp32", 0.125, 4e11)], roofs)
                self.assertEqual(self.plot(), (0, ""))

    # ---- files

    def test_refuses_what_cannot_be_drawn_in_one_line(self) -> None:
        good = [point("relu", "fp32", 0.125, 4e11)]
        other = [*good, point("dot", "fp32", 0.25, 4e11, device="Other GPU", device_uuid="GPU-1")]
        other_run = [{**GPU_ROOFS[0], "run_id": "r2"}]
        for name, points, roofs, expected in (
            (
                "header only",
                [],
                GPU_ROOFS,
                "measurements.csv: expected rows, found only the header",
            ),
            ("two devices", other, GPU_ROOFS, "expected one device"),
            ("roofs of another run", good, other_run, "the roofs of run r2"),
            (
                "bad number",
                [{**good[0], "m": "x"}],
                GPU_ROOFS,
                '.csv:2: m is "x", expected a whole',
            ),
            *(
                (
                    value,
                    [{**good[0], "fraction_of_roof": value}],
                    GPU_ROOFS,
                    f'.csv:2: fraction_of_roof is "{value}", expected a number',
                )
                for value in ("nan", "-inf", "1e999", "x")
            ),
        ):
            with self.subTest(name):
                self.write_run(points, roofs)
                self.assert_refused(expected)

    def test_refuses_an_environment_that_is_no_json_object(self) -> None:
        self.write_run([point("relu", "fp32", 0.125, 4e11)])
        path = self.run_folder / "environment.json"
        for content in (b"", b'{"run_id": ', b"[]", b"3", b'"\xff"'):
            with self.subTest(content):
                path.write_bytes(content)
                self.assert_refused(
                    f"environment.json: expected a JSON object, found {len(content)} bytes"
                )
        path.write_text('{"run_id": "r1"}')
        self.assertEqual(self.plot(), (0, ""))

    def test_refuses_files_that_are_missing_empty_or_foreign(self) -> None:
        for name, content, expected in (
            (
                "missing",
                None,
                "measurements.csv: expected the measurements of a run, found no such file",
            ),
            ("empty", b"", "expected a column run_id"),
            ("foreign", b"a,b\n1,2\n", "expected a column run_id"),
            ("binary", bytes(range(256)) * 4, "measurements.csv"),
        ):
            with self.subTest(name):
                self.write_run([point("relu", "fp32", 0.125, 4e11)])
                path = self.run_folder / "measurements.csv"
                path.unlink()
                if content is not None:
                    path.write_bytes(content)
                self.assert_refused(expected)

    def assert_refused(self, expected: str) -> None:
        code, errors = self.plot()
        self.assertEqual(code, 1)
        self.assertIn(expected, errors)
        self.assertEqual(errors.count("\n"), 1)
        self.assertFalse((self.run_folder / "roofline.svg").exists())

    def test_half_a_last_line_of_a_killed_run_is_dropped(self) -> None:
        self.write_run([point("relu", "fp32", 0.125, 4e11)])
        with (self.run_folder / "measurements.csv").open("a") as file:
            file.write("1,r1,2026")
        self.assertEqual(len(read_run(self.run_folder).measurements), 1)

    def test_refuses_another_schema(self) -> None:
        for name in ("measurements.csv", "roofs.csv"):
            with self.subTest(name):
                self.write_run([point("relu", "fp32", 0.125, 4e11)])
                path = self.run_folder / name
                path.write_text(path.read_text().replace("\n1,", "\n2,", 1))
                self.assert_refused(f'{name}:2: schema is "2", this program reads 1')

    def test_says_that_a_run_did_not_end_well(self) -> None:
        self.write_run([point("relu", "fp32", 0.125, 4e11)])
        (self.run_folder / "environment.json").write_text('{"outcome": "interrupted"}')
        said = 'Not a whole run, its outcome is "interrupted": rows may be missing'
        self.assertEqual(self.plot(), (0, f"plot.py: {said}\n"))
        self.assertIn(said, "\n".join(self.said()))

    def test_a_row_of_another_length_is_named(self) -> None:
        self.write_run([point("relu", "fp32", 0.125, 4e11)])
        with (self.run_folder / "measurements.csv").open("a") as file:
            file.write("1,r1\n")
        with self.assertRaisesRegex(RunError, r"measurements.csv:3: 2 fields, the header has \d+"):
            read_run(self.run_folder)

    def test_writes_where_it_is_told_and_says_so_where_it_cannot(self) -> None:
        self.write_run([point("relu", "fp32", 0.125, 4e11)])
        elsewhere = self.run_folder / "new" / "folder"
        self.assertEqual(self.plot("roofline", f"--out={elsewhere}"), (0, ""))
        self.assertEqual(
            sorted(p.name for p in elsewhere.iterdir()), ["roofline.png", "roofline.svg"]
        )
        code, errors = self.plot("roofline", f"--out={self.run_folder / 'roofs.csv'}")
        self.assertEqual(code, 1)
        self.assertIn("roofs.csv: File exists", errors)

    def test_the_same_run_gives_the_same_bytes_without_a_display(self) -> None:
        self.write_run(forty_points())
        pictures = []
        for environment in ({"DISPLAY": ""}, {"DISPLAY": ":99", "MPLBACKEND": "TkAgg"}):
            command = [sys.executable, str(HERE / "plot.py"), "roofline", str(self.run_folder)]
            done = subprocess.run(
                command, env={**os.environ, **environment}, capture_output=True, check=False
            )
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            self.assertEqual(len(done.stdout.splitlines()), 2)
            pictures.append([p.read_bytes() for p in sorted(self.run_folder.glob("roofline.*"))])
        self.assertEqual(pictures[0], pictures[1])
        self.assertNotIn(b"<dc:date>", pictures[0][1])

    @unittest.skipUnless(os.path.exists("/dev/full"), "this system has no /dev/full")
    def test_a_full_disk_behind_stdout_is_one_line(self) -> None:
        self.write_run(forty_points())
        command = [sys.executable, str(HERE / "plot.py"), "roofline", str(self.run_folder)]
        with open("/dev/full", "w") as full:
            done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr, b"plot.py: cannot write: No space left on device\n")

    def test_says_what_to_do_without_matplotlib(self) -> None:
        block = (
            "import runpy, sys; sys.modules['matplotlib'] = None; sys.argv = ['plot.py', 'ramp']"
        )
        command = (
            f"{block}; sys.path.insert(0, {str(HERE)!r}); runpy.run_path({str(HERE / 'plot.py')!r})"
        )
        done = subprocess.run([sys.executable, "-c", command], capture_output=True, check=False)
        self.assertEqual(done.returncode, 3)
        self.assertIn(b"run scripts/setup.sh, then .venv/bin/python", done.stderr)

    def test_reads_only_columns_that_the_benchmark_writes(self) -> None:
        table = (HERE.parent / "roofline" / "record.cpp").read_text(encoding="utf-8")
        for field in (*dataclasses.fields(Measurement), *dataclasses.fields(Roof)):
            self.assertRegex(table, rf'\({field.name}\)|"{field.name}"')
        fits = (HERE.parent / "roofline" / "ridge_fit.cpp").read_text(encoding="utf-8")
        for field in dataclasses.fields(RidgeFit):
            self.assertRegex(fits, rf'[",]{field.name}[,\\]')

    # ---- ramp and ridge

    def test_a_ramp_needs_three_sizes_and_shows_launch_costs(self) -> None:
        def sized(n: int) -> Cells:
            return point("relu", "fp32", 0.125, 1e11, n=n, bytes_read=4 * n, bytes_written=4 * n)

        empty = point("empty", "fp32", 0, 0, variant="graph", time_median_s=2e-6)
        self.write_run([sized(2**13), sized(2**28)])
        self.assertEqual(self.plot("ramp")[0], 3)
        self.write_run([sized(2**13), sized(2**20), sized(2**28), empty])
        said = self.said("ramp")
        for text in ("empty graph 2 µs", "1 GiB", "bytes moved by a launch", "800 GB/s"):
            self.assertIn(text, said)

    def test_all_draws_what_the_run_has_rows_for(self) -> None:
        transfers = [
            point("h2d", "fp32", 0, 0, n=n, bytes_read=n, achieved_bytes_per_s=5e10)
            for n in (2**13, 2**20, 2**28)
        ]
        sweep = [point("gemm", "bf16", m, m * 2e12, m=m) for m in (1, 64, 256)]
        unsupported = point("gelu", "bf16", 5, 0, status="unsupported", achieved_flops_per_s="")
        for rows, pictures in (
            ([*transfers, unsupported], ["ramp"]),
            ([*sweep, unsupported], ["ridge", "roofline"]),
            ([*transfers, *sweep, unsupported], ["ramp", "ridge", "roofline"]),
        ):
            with self.subTest(pictures):
                self.write_run(rows)
                code, errors = self.plot("all")
                self.assertEqual((code, errors), (0, "plot.py: Not drawn: 1 unsupported\n"))
                svgs = sorted(self.run_folder.glob("*.svg"))
                self.assertEqual([p.stem for p in svgs], pictures)
                for path in svgs:
                    path.unlink()
        self.write_run([unsupported])
        code, errors = self.plot("all")
        self.assertEqual((code, errors.count("\n")), (3, 1))
        self.assertIn("no measured row with a positive intensity", errors)

    def test_a_ridge_sweep_varies_m_alone(self) -> None:
        square = [point("gemm", "bf16", n / 3, 6e14, m=n, n=n, k=n) for n in (1024, 2048, 4096)]
        self.write_run(square)
        code, errors = self.plot("ridge")
        self.assertEqual(code, 3)
        self.assertIn("--suite=ridge", errors)
        self.write_run(
            [*square, *(point("gemm", "bf16", m, m * 2e12, m=m, n=999, k=77) for m in (1, 64, 256))]
        )
        said = self.said("ridge")
        self.assertIn("GEMM over M, N×K = 999×77 · cuda · measured 2026-01-31", said)
        self.assertIn("ridge bf16: 295 FLOP/byte", said)
        self.assertEqual({"1", "64", "256"} - set(said), set())
        self.assertNotIn("2048", said)

    def test_fast_and_full_accumulation_are_sweeps_of_their_own(self) -> None:
        self.write_run(
            point("gemm", "fp8_e4m3", m, m * rate, m=m, fast_accumulation=fast)
            for m in (1, 64, 256)
            for fast, rate in (("false", 1e12), ("true", 2e12))
        )
        joined = [xy for xy in map(points_of, self.draw("ridge").axes[0].lines) if len(xy) == 3]
        for rate in (1e12, 2e12):
            self.assertIn([(m, m * rate) for m in (1, 64, 256)], joined)
        said = self.said("ridge")
        self.assertEqual((said.count("fp8_e4m3"), said.count("fp8_e4m3 fast")), (4, 3))  # + legend

    def test_a_fit_is_drawn_over_its_own_sweep(self) -> None:
        sweep = [
            point("gemm", "bf16", ai, min(ai / 256, 1) * 6e14, m=m, n=999, k=77)
            for m, ai in ((1, 1), (64, 64), (256, 256), (4096, 1024))
        ]
        self.write_run(sweep)
        self.assertFalse([text for text in self.said("ridge") if "knee" in text])
        fit: Cells = {
            "dtype": "bf16",
            "implementation": "cublaslt",
            "n": 999,
            "k": 77,
            "knee_m": 300,
            "knee_intensity_flops_per_byte": 256,
            "plateau_flops_per_s": 6e14,
            "slope": 0.5,
        }
        others: list[Cells] = [{**fit, "dtype": "fp16"}, {**fit, "fast_accumulation": "true"}]
        write_csv(self.run_folder / "ridge.csv", RidgeFit, [fit, *others])
        self.assertEqual(self.said("ridge").count("cublaslt knee: 256 FLOP/byte, M = 300"), 1)
        # At the first point, 1 / 256 of the knee: 6e14 / 256^0.5.
        found = self.draw("ridge").findobj(Line2D)
        lines = [points_of(line) for line in found if isinstance(line, Line2D)]
        self.assertIn([(1, 6e14 / 16), (256, 6e14), (1024, 6e14)], lines)
        low = self.draw("ridge").axes[0].get_ylim()[0]
        self.assertIn([(256, low), (256, 6e14)], lines)  # down to its label
        write_csv(self.run_folder / "ridge.csv", RidgeFit, [])
        self.assertEqual(self.plot("ridge")[0], 0)

    def test_rates_are_printed_as_on_data_sheets(self) -> None:
        for value, digits, text in (
            (1979e12, 4, "1979 TB/s"),
            (989.5e12, 4, "989.5 TB/s"),
            (3.35e12, 3, "3.35 TB/s"),
            (999.9e9, 3, "1000 GB/s"),
            (1, 3, "1 B/s"),
            (0.25, 3, "0.25 B/s"),
        ):
            with self.subTest(text):
                self.assertEqual(si(value, "B/s", digits), text)


if __name__ == "__main__":
    unittest.main()
