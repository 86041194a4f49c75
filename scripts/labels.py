"""Places texts in a picture so that none covers another, a marker or the frame."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from statistics import fmean
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg

Box = tuple[float, float, float, float]  # left, bottom, right, top in pixels

GREY = "#777777"
BACKGROUND = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.4}
# Right above and below first, then the left, straight, and in between.
DIRECTIONS = (0.8, -0.8, 2.3, -2.3, 0.0, 3.14, 1.57, -1.57, 0.4, -0.4, 2.7, -2.7)
RINGS = 40
GAPS_PT = (2, 7, 12, 17, 22)  # between a line and the text along it


class Labels:
    """Each text takes the first free one of its candidate places. Set the limits of the axes before
    and do not change them afterwards."""

    def __init__(self, axes: Axes) -> None:
        self.axes = axes
        canvas: Any = FigureCanvasAgg(axes.figure)  # type: ignore[arg-type]
        self.renderer = canvas.get_renderer()
        self.point = self.renderer.points_to_pixels(1.0)
        frame = axes.get_window_extent(self.renderer)
        self.frame: Box = (frame.x0, frame.y0, frame.x1, frame.y1)
        self.taken: list[Box] = []

    def keep_clear(self, x: float, y: float, size_pt: float) -> None:
        """Keeps texts off a marker."""
        px, py = self._pixel(x, y)
        self.taken.append(_box(px, py, size_pt * self.point, size_pt * self.point))

    def beside(self, x: float, y: float, text: str, size_pt: float) -> None:
        """Beside a marker; where that is crowded further out, with a line that leads to it."""
        width, height = self._size(text, size_pt)
        px, py = self._pixel(x, y)
        for ring in range(RINGS):
            radius = (8 + 4 * ring) * self.point
            for angle in DIRECTIONS:
                cx = px + math.cos(angle) * (radius + width / 2)
                cy = py + math.sin(angle) * radius
                box = _box(cx, cy, width, height)
                if self._free([box]):
                    self.taken.append(box)
                    self.axes.annotate(
                        text,
                        (x, y),
                        ((cx - px) / self.point, (cy - py) / self.point),
                        textcoords="offset points",
                        fontsize=size_pt,
                        ha="center",
                        va="center",
                        bbox=BACKGROUND,
                        zorder=6,
                        arrowprops={"arrowstyle": "-", "color": GREY, "linewidth": 0.6}
                        if ring > 0
                        else None,
                    )
                    return

    def along(
        self,
        start: tuple[float, float],
        end: tuple[float, float],
        text: str,
        size_pt: float,
        *,
        above: bool,
        colour: str,
    ) -> None:
        """Along a line of the picture, as near to it and to its start as there is room."""
        width, height = self._size(text, size_pt)
        (x0, y0), (x1, y1) = self._pixel(*start), self._pixel(*end)
        length = math.hypot(x1 - x0, y1 - y0)
        cos, sin = (x1 - x0) / length, (y1 - y0) / length
        pieces = math.ceil(width / height)
        places = range(0, math.floor(length - width), 4)
        for gap, place in itertools.product(GAPS_PT, places):
            off = (height / 2 + gap * self.point) * (1 if above else -1)
            x, y = x0 + place * cos - off * sin, y0 + place * sin + off * cos
            middles = (height / 2 + (width - height) * i / pieces for i in range(pieces + 1))
            boxes = [_box(x + m * cos, y + m * sin, height, height) for m in middles]
            if self._free(boxes):
                self.taken += boxes
                at = self.axes.transData.inverted().transform((x, y))
                self.axes.text(
                    at[0],
                    at[1],
                    text,
                    fontsize=size_pt,
                    color=colour,
                    rotation=math.degrees(math.atan2(sin, cos)),
                    rotation_mode="anchor",
                    ha="left",
                    va="center",
                    bbox=BACKGROUND,
                    zorder=5,
                )
                return

    def in_margin(self, entries: Sequence[tuple[float, str, str]], size_pt: float) -> None:
        """Right of the axes, from high to low: height in the picture, text, colour. Each text
        stands as near to its height as the others let it, with a line that leads there."""
        wanted = [self._pixel(1, y)[1] for y, _, _ in entries]
        tall = [self._size(text, size_pt)[1] + 4 * self.point for _, text, _ in entries]
        for (y, text, colour), want, at in zip(entries, wanted, _spread(wanted, tall)):
            self.axes.annotate(
                text,
                (1, y),
                (14, (at - want) / self.point),
                xycoords=self.axes.get_yaxis_transform(),
                textcoords="offset points",
                fontsize=size_pt,
                color=colour,
                va="center",
                annotation_clip=False,
                arrowprops={"arrowstyle": "-", "color": GREY, "linewidth": 0.6, "relpos": (0, 0.5)},
            )

    def _pixel(self, x: float, y: float) -> tuple[float, float]:
        px, py = self.axes.transData.transform((x, y))
        return float(px), float(py)

    def _size(self, text: str, size_pt: float) -> tuple[float, float]:
        probe = self.axes.text(0.5, 0.5, text, fontsize=size_pt, transform=self.axes.transAxes)
        box = probe.get_window_extent(self.renderer)
        probe.remove()
        return float(box.width), float(box.height)

    def _free(self, boxes: list[Box]) -> bool:
        left, bottom, right, top = self.frame
        inside = all(b[0] > left and b[1] > bottom and b[2] < right and b[3] < top for b in boxes)
        return inside and not any(
            b[0] < t[2] and t[0] < b[2] and b[1] < t[3] and t[1] < b[3]
            for b in boxes
            for t in self.taken
        )


def _box(x: float, y: float, width: float, height: float) -> Box:
    return (x - width / 2, y - height / 2, x + width / 2, y + height / 2)


def _spread(wanted: Sequence[float], tall: Sequence[float]) -> list[float]:
    """Centres of stacked boxes, from high to low, least squares away from where they are wanted:
    neighbours that would overlap move together (isotonic regression by pooling)."""
    below_first = [0.0]
    for upper, lower in zip(tall, tall[1:]):
        below_first.append(below_first[-1] + (upper + lower) / 2)
    pools: list[list[float]] = []
    for want, below in zip(wanted, below_first):
        pools.append([want + below])
        while len(pools) > 1 and fmean(pools[-2]) < fmean(pools[-1]):
            pools[-2:] = [pools[-2] + pools[-1]]
    return [fmean(pool) - below for pool, below in zip((p for p in pools for _ in p), below_first)]
