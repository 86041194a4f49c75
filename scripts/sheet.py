"""The sheet of a picture: how points and roofs look, its title, axes, legend, key and notes."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from run_files import Measurement, Roof, Run

# Okabe and Ito's colours, told apart with any colour vision; the fill tells a dtype in grey too.
DTYPES = {
    "fp64": ("#000000", "full"),
    "fp32": ("#0072B2", "full"),
    "tf32": ("#56B4E9", "top"),
    "fp16": ("#009E73", "left"),
    "bf16": ("#D55E00", "right"),
    "fp8_e4m3": ("#CC79A7", "bottom"),
    "fp8_e5m2": ("#E69F00", "none"),
}
MARKERS = {"ours": "o", "cublaslt": "s", "cublas": "D", "cub": "^", "onednn": "s", "openblas": "D"}
OTHER_MARKER = "P"

INK, PALE, ALARM = "#222222", "#6B6B6B", "#B00020"
OTHER_DTYPE = (PALE, "none")
THEORETICAL_LINE = {"color": INK, "linewidth": 1.6}
MEASURED_LINE = {"color": PALE, "linewidth": 1.2, "linestyle": (0, (5, 2.5))}
STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",  # comes with matplotlib: every machine draws the same
    "font.size": 9,
    "text.color": INK,
    "text.parse_math": False,  # a device name may hold a $
    "axes.edgecolor": PALE,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "svg.hashsalt": "roofline",  # the ids in an SVG are random without it
}

DPI = 125
TEXT_PT = 7.5  # of the labels inside the axes and beside them, and of the notes below
LETTER_EM = 0.64  # a digit's width; most letters are narrower
POINTS_PER_IN = 72
LEFT, BOTTOM, WIDTH, HEIGHT = 1.2, 1.55, 5.6, 5.5  # of the axes, in inches
TOP, MARGIN = 1.3, 2.0  # above the axes; right of them, for the names of the roofs
KEY, KEY_GAP = 4.1, 0.15  # one column of the key
VALUE_LETTERS, SMALLEST_PT = 12, 6  # "1979 TFLOP/s"; a name too long even so is cut
KEY_ROWS = 40  # in a column; a longer key makes the picture wider


@dataclass(frozen=True)
class Entry:
    """A point with its label in the picture and its line of the key; drawn small and pale, and not
    in the key, without a label."""

    label: str
    point: Measurement
    name: str = ""
    value: str = ""


def significant(value: float, digits: int) -> str:
    text = f"{value:.{max(0, digits - 1 - math.floor(math.log10(value)))}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def si(value: float, unit: str, digits: int = 3) -> str:
    """With a decimal prefix up to T, as data sheets print it: 1979 TFLOP/s."""
    prefixes = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
    factor, prefix = next((p for p in prefixes if value >= p[0]), (1.0, ""))
    return f"{significant(value / factor, digits)} {prefix}{unit}"


def base_dtype(point: Measurement) -> str:
    """What colour and fill stand for: the first operand's type where the two differ."""
    return point.dtype.split("*")[0]


def marker(point: Measurement) -> dict[str, Any]:
    colour, fill = DTYPES.get(base_dtype(point), OTHER_DTYPE)
    return {
        "marker": MARKERS.get(point.implementation, OTHER_MARKER),
        "color": colour,
        "fillstyle": fill,
        "markerfacecoloralt": "white",
        "markeredgewidth": 1.1,
    }


def roof_line(roof: Roof) -> dict[str, Any]:
    return MEASURED_LINE if roof.measured else THEORETICAL_LINE


def new_sheet(
    run: Run, title: str, entries: Sequence[Entry], notes: Sequence[str]
) -> tuple[Figure, Axes]:
    """A figure with all but the contents of its logarithmic axes."""
    listed = [e for e in entries if e.label]
    columns = math.ceil(len(listed) / KEY_ROWS)
    rows = math.ceil(len(listed) / columns)
    wide, high = LEFT + WIDTH + MARGIN + columns * KEY, BOTTOM + HEIGHT + TOP
    figure = Figure(figsize=(wide, high), dpi=DPI)

    def add_axes(x: float, width: float) -> Axes:
        return figure.add_axes((x / wide, BOTTOM / high, width / wide, HEIGHT / high))

    def text(down: float, words: str, size: float, colour: str, weight: str = "normal") -> None:
        at = (LEFT / wide, 1 - down / high)
        figure.text(*at, words, fontsize=size, color=colour, fontweight=weight)

    axes = add_axes(LEFT, WIDTH)
    axes.set(xscale="log", yscale="log")
    axes.grid(color="#E6E6E6", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    text(0.45, textwrap.shorten(run.device, 70, placeholder="…"), 18, INK, "bold")
    text(0.70, f"{title} · {run.backend} · measured {run.date}", 11, PALE)
    letters = int((wide - LEFT) * POINTS_PER_IN / (LETTER_EM * TEXT_PT))
    wrapped = [line for note in notes for line in textwrap.wrap(note, letters)]
    for i, line in enumerate(wrapped):
        text(high - BOTTOM + 0.55 + 0.16 * i, line, TEXT_PT, PALE)
    draw_legend(figure, run, [e.point for e in entries], LEFT / wide, (BOTTOM + HEIGHT) / high)
    for column in range(columns):
        part = listed[column * rows : (column + 1) * rows]
        draw_key(add_axes(LEFT + WIDTH + MARGIN + column * KEY, KEY - KEY_GAP), part)
    return figure, axes


def name_ticks(axis: Axis, name: Callable[[float], str]) -> None:
    axis.set_major_formatter(lambda value, _: name(value))
    axis.set_minor_formatter("")


def draw_legend(
    figure: Figure, run: Run, points: Sequence[Measurement], x: float, y: float
) -> None:
    """Two lines over the axes: what colour and fill mean; what marker and stroke mean."""

    def handle(label: str, style: dict[str, Any]) -> Line2D:
        return Line2D([], [], label=label, **{"linestyle": "none", "markersize": 8, **style})

    def in_order(dtype: str) -> int:
        return list(DTYPES).index(dtype) if dtype in DTYPES else len(DTYPES)

    dtypes = {base_dtype(p): p for p in points}
    fills = [
        handle(dtype, {**marker(dtypes[dtype]), "marker": "o"})
        for dtype in sorted(dtypes, key=in_order)
    ]
    implementations = {p.implementation: p for p in points}
    shapes = [
        handle(name, {**marker(p), "color": PALE, "fillstyle": "none"})
        for name, p in implementations.items()
    ]
    strokes = {r.measured: roof_line(r) for r in run.roofs}
    shapes += [
        handle("measured roof" if measured else "theoretical roof", {"linestyle": "-", **style})
        for measured, style in sorted(strokes.items(), key=lambda s: s[0])
    ]
    for row, handles in enumerate((shapes, fills)):
        figure.legend(
            handles=handles,
            loc="lower left",
            bbox_to_anchor=(x, y + 0.012 + 0.03 * row),
            ncol=len(handles),
            frameon=False,
            fontsize=9,
            borderpad=0,
            borderaxespad=0,
            handletextpad=0.4,
            columnspacing=1.4,
        )


def draw_key(axes: Axes, entries: Sequence[Entry]) -> None:
    """One line an entry: label, marker, name, what was achieved, and which part of the roof."""
    axes.axis("off")
    width, height = ((KEY - KEY_GAP) * POINTS_PER_IN, HEIGHT * POINTS_PER_IN)
    axes.set(xlim=(0, width), ylim=(height, 0))
    name_left, value_right, share_right = 36, width - 38, width
    row = min(16.0, height / len(entries))
    room = (value_right - name_left) / LETTER_EM  # in letters of 1 pt
    longest = max(len(e.name) for e in entries) + VALUE_LETTERS
    size = min(9.0, row * 0.75, max(SMALLEST_PT, room / longest))
    letters = int(room / SMALLEST_PT) - VALUE_LETTERS

    def cell(y: float, x: float, words: str, align: str, colour: str) -> None:
        axes.text(x, y, words, fontsize=size, ha=align, va="center_baseline", color=colour)

    cell(-row / 2, value_right, "achieved", "right", PALE)
    cell(-row / 2, share_right, "of roof", "right", PALE)
    for i, entry in enumerate(entries):
        y = (i + 0.5) * row
        point = entry.point
        colour = ALARM if point.status == "above_roof" else INK
        name = entry.name if len(entry.name) <= letters else entry.name[: letters - 1] + "…"
        share = "" if point.fraction_of_roof is None else f"{point.fraction_of_roof:.0%}"
        cell(y, 16, entry.label, "right", colour)
        axes.plot([26], [y], markersize=size * 0.75, **marker(point))
        cell(y, name_left, name, "left", colour)
        cell(y, value_right, entry.value, "right", colour)
        cell(y, share_right, share, "right", colour)
