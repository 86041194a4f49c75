"""Reads the files of a run. The field names below are column names, with their units; the columns
themselves are defined in roofline/record.cpp."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import math
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

SCHEMA = "1"  # of each file of a run that has one, as roofline/record.h


class RunError(Exception):
    """A file that is missing, foreign or broken."""


class UnavailableError(Exception):
    """What was asked for cannot be had here, or of this run."""


def exit_code(program: str, work: Callable[[], None]) -> int:
    """Does it. What goes wrong is one line on stderr, and 1 where a file is bad, or it or stdout
    cannot be written, 3 where something cannot be had, 130 after Ctrl-C."""
    try:
        work()
        sys.stdout.flush()
    except UnavailableError as unavailable:
        print(f"{program}: {unavailable}", file=sys.stderr)
        return 3
    except RunError as bad:
        print(f"{program}: {bad}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        print(f"{program}: {error.filename or 'cannot write'}: {error.strerror}", file=sys.stderr)
        if error.filename is None:  # stdout, perhaps, which the interpreter would flush once more
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1
    return 0


@dataclass(frozen=True)
class Measurement:
    """A row of measurements.csv; None where the run did not know."""

    run_id: str
    timestamp_utc: str
    backend: str
    device: str
    device_uuid: str
    op: str
    implementation: str
    variant: str
    dtype_a: str
    dtype_b: str
    compute_type: str
    layout: str
    fast_accumulation: str  # true | false for FP8, else empty
    m: int
    n: int
    k: int
    batch: int
    cache: str
    data: str
    bytes_read: float | None
    bytes_written: float | None
    intensity_flops_per_byte: float | None
    time_median_s: float | None
    achieved_flops_per_s: float | None
    achieved_bytes_per_s: float | None
    fraction_of_roof: float | None
    bound: str
    status: str

    @property
    def dtype(self) -> str:
        if self.compute_type == "tf32":
            return "tf32"
        return self.dtype_a if self.dtype_a == self.dtype_b else f"{self.dtype_a}*{self.dtype_b}"

    @property
    def shape(self) -> str:
        """2^28 elements are 256Mi, a cube is 4096³, a GEMM MxNxK, its batch in front."""
        if self.op in ("gemm", "fma", "mma"):
            cube = self.m == self.n == self.k
            shape = f"{self.m}³" if cube else f"{self.m}×{self.n}×{self.k}"
            shape = shape if self.batch == 1 else f"{self.batch}×{shape}"
            return shape if self.layout in ("", "tn") else f"{shape} {self.layout}"
        if self.op == "gemv":
            return f"{self.m}×{self.n}"
        for factor, prefix in ((2**30, "Gi"), (2**20, "Mi"), (2**10, "Ki")):
            if self.n >= factor and self.n % factor == 0:
                return f"{self.n // factor}{prefix}"
        return str(self.n)

    @property
    def intensity(self) -> float:
        """FLOP/byte, and so on below; 0 where the row has none."""
        return self.intensity_flops_per_byte or 0.0

    @property
    def flops_per_s(self) -> float:
        return self.achieved_flops_per_s or 0.0

    @property
    def bytes_per_s(self) -> float:
        return self.achieved_bytes_per_s or 0.0

    @property
    def moved_bytes(self) -> float:
        return (self.bytes_read or 0.0) + (self.bytes_written or 0.0)

    @property
    def measured(self) -> bool:
        """Whether the row holds a time; above_roof does, however wrong."""
        return self.status in ("ok", "noisy", "above_roof")


@dataclass(frozen=True)
class Roof:
    """A row of roofs.csv: bytes/s of a memory level, or FLOP/s of a pipe and dtype."""

    run_id: str
    name: str
    kind: str  # datasheet | derived | measured
    level: str  # memory | cache | link, empty for a compute roof
    access: str  # of a measured memory roof: read | write | copy | triad
    pipe: str  # vector | matrix, empty for a memory roof
    dtype: str
    flops_per_s: float | None
    bytes_per_s: float | None
    source: str

    @property
    def is_memory(self) -> bool:
        return self.level != ""

    @property
    def per_s(self) -> float:
        """byte/s or FLOP/s; 0 where the file has none."""
        return (self.bytes_per_s if self.is_memory else self.flops_per_s) or 0.0

    @property
    def measured(self) -> bool:
        return self.kind == "measured"


@dataclass(frozen=True)
class RidgeFit:
    """A row of ridge.csv, which `roofline validate` writes: FLOP/s rise with the intensity's power
    `slope` up to the knee, and stay."""

    dtype: str
    implementation: str
    fast_accumulation: str
    n: int
    k: int
    knee_m: float | None
    knee_intensity_flops_per_byte: float | None
    plateau_flops_per_s: float | None
    slope: float | None


@dataclass(frozen=True)
class Run:
    folder: Path
    measurements: list[Measurement]
    roofs: list[Roof]  # those whose value is known
    outcome: str = "complete"  # how it ended

    @property
    def device(self) -> str:
        return " ".join(self.measurements[0].device.split()) or "unnamed device"

    @property
    def backend(self) -> str:
        return self.measurements[0].backend

    @property
    def date(self) -> str:
        return self.measurements[0].timestamp_utc[:10]


def positive(value: float) -> bool:
    """Whether a value has a place on a logarithmic axis."""
    return math.isfinite(value) and value > 0


def finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError
    return value


PARSERS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "str": ("text", str),
    "int": ("a whole number", int),
    "float | None": ("a number", lambda text: finite(text) if text else None),
}

Row = TypeVar("Row")


def read_rows(path: Path, row_type: type[Row]) -> list[Row]:
    """The rows of a CSV file. Other columns than the fields of `row_type` are passed over."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise RunError(f"{path}: {error.strerror}") from error
    whole = text[: text.rfind("\n") + 1]  # a killed run may leave half a line
    reader = csv.reader(io.StringIO(whole.lstrip("\ufeff"), newline=""))
    rows: list[Row] = []
    try:
        header = next(reader, [])
        columns = dataclasses.fields(row_type)  # type: ignore[arg-type]
        for column in columns:
            if column.name not in header:
                raise RunError(
                    f"{path}:1: expected a column {column.name}, the header has none: "
                    "not a file of this project, or of another version"
                )
        for fields in reader:
            where = f"{path}:{reader.line_num}"
            if len(fields) != len(header):
                raise RunError(f"{where}: {len(fields)} fields, the header has {len(header)}")
            named = dict(zip(header, fields))
            if named.get("schema", SCHEMA) != SCHEMA:
                raise RunError(
                    f'{where}: schema is "{named["schema"]}", this program reads {SCHEMA}'
                )
            values: dict[str, Any] = {}
            for column in columns:
                expected, parse = PARSERS[str(column.type)]
                field = named[column.name]
                try:
                    values[column.name] = parse(field)
                except ValueError:
                    raise RunError(
                        f'{where}: {column.name} is "{field}", expected {expected}'
                    ) from None
            rows.append(row_type(**values))
    except csv.Error as error:
        raise RunError(f"{path}:{reader.line_num}: {error}") from error
    return rows


def read_run(path: Path) -> Run:
    """Reads a run's folder, named by itself or by its measurements.csv. Raises RunError, also where
    not all points and roofs are of one device: such a picture would compare nothing. A run whose
    filter dropped the kernels that measure the roofs may have none."""
    folder = path.parent if path.name == "measurements.csv" else path
    if not (folder / "measurements.csv").exists():
        raise RunError(
            f"{folder / 'measurements.csv'}: expected the measurements of a run, found no such "
            "file; RUN is a folder that roofline_bench wrote"
        )
    measurements = read_rows(folder / "measurements.csv", Measurement)
    roofs = read_rows(folder / "roofs.csv", Roof)
    outcome = read_environment(folder / "environment.json").get("outcome", "complete")
    if not measurements:
        raise RunError(f"{folder / 'measurements.csv'}: expected rows, found only the header")
    devices = sorted({f"{m.device} {m.device_uuid}".strip() for m in measurements})
    if len(devices) > 1:
        raise RunError(
            f"{folder / 'measurements.csv'}: expected one device, got {', '.join(devices)}: "
            "plot the runs one by one"
        )
    points_of = sorted({m.run_id for m in measurements})
    roofs_of = sorted({r.run_id for r in roofs})
    if len(points_of) > 1 or (roofs and points_of != roofs_of):
        raise RunError(
            f"{folder}: the points are of run {', '.join(points_of)}, "
            f"the roofs of run {', '.join(roofs_of)}: expected both of one run"
        )
    return Run(folder, measurements, [r for r in roofs if positive(r.per_s)], str(outcome))


def read_environment(path: Path) -> dict[str, Any]:
    """A run may lack its environment.json, but not have a bad one; as roofline/run.cpp."""
    if not path.exists():
        return {}
    try:
        text = path.read_bytes()
    except OSError as error:
        raise RunError(f"{path}: {error.strerror}") from error
    try:
        environment = json.loads(text)
    except ValueError:
        environment = None
    if not isinstance(environment, dict):
        raise RunError(
            f"{path}: expected a JSON object, found {len(text)} bytes that are none; "
            "without the file the run is read as one of an unknown environment"
        )
    return environment


def read_fits(folder: Path) -> list[RidgeFit]:
    """The fitted sweeps of a run; none before `roofline validate` has judged it."""
    path = folder / "ridge.csv"
    return read_rows(path, RidgeFit) if path.exists() else []
