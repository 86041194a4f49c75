#!/usr/bin/env python3
"""Draws a run: its roofline, its ramps of size, its ridge sweep, or all of these that it has rows
for, as RUN/<picture>.svg and .png.

It draws what the files of the run say, fits nothing and needs no display; the same files give the
same bytes. The knee of a ridge sweep is drawn once `roofline validate RUN` has fitted it.
Exit codes: 0 drawn, 1 a bad file, or a picture that could not be written, 2 wrong usage, 3 a run
without rows for the picture, or no matplotlib."""

from __future__ import annotations

import argparse
import dataclasses
import sys
import textwrap
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from run_files import (
    Measurement,
    RidgeFit,
    Run,
    UnavailableError,
    exit_code,
    positive,
    read_fits,
    read_run,
)

try:
    import matplotlib
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from labels import Labels
    from roofs import alike, compute, draw_roofs, kinds, memory_label, ridges, theoretical
    from sheet import (
        ALARM,
        KEY_ROWS,
        PALE,
        STYLE,
        TEXT_PT,
        Entry,
        base_dtype,
        marker,
        name_ticks,
        new_sheet,
        roof_line,
        si,
        significant,
    )
except ModuleNotFoundError as missing:
    cure = f"run scripts/setup.sh, then .venv/bin/python {' '.join(sys.argv)}"
    print(f"plot.py: {missing}: {cure}", file=sys.stderr)
    raise SystemExit(3) from None

BINARY = ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"), (1, "B"))
MARGIN_LETTERS = 32  # of TEXT_PT, right of the axes
PALE_POINT = {"markersize": 5, "zorder": 3.5, "alpha": 0.4}
SERIES_POINTS = 3  # the fewest that make a ramp or a sweep
# They measure the roofs, and are drawn as roofs.
ROOF_OPS = ("empty", "read", "write", "copy", "triad", "fma", "mma")

# ---- what the points are called ------------------------------------------------------------------


def arithmetic(p: Measurement) -> str:
    """The dtype, and FP8's accumulation where it is the fast one."""
    return f"{p.dtype} fast" if p.fast_accumulation == "true" else p.dtype


def names(points: Sequence[Measurement], drawn: Sequence[Measurement]) -> list[str]:
    """Op and dtype; the shape where several are drawn; the rest only where it tells the points
    apart, or is not the default."""
    shapes = Counter((op, dtype) for op, dtype, _ in {(p.op, p.dtype, p.shape) for p in drawn})
    texts = []
    for p in points:
        parts = [p.op, arithmetic(p)]
        parts += [p.shape] if shapes[p.op, p.dtype] > 1 else []
        parts += [p.cache] if p.cache not in ("", "cold") else []
        parts += [p.data] if p.data not in ("", "normal") else []
        texts.append(" ".join(parts))
    same = Counter(zip(texts, (p.implementation for p in points)))
    return [
        f"{text} {p.variant}" if same[text, p.implementation] > 1 else text
        for text, p in zip(texts, points)
    ]


def achieved(p: Measurement) -> str:
    """In bytes/s where memory binds; noisy rows are marked."""
    noisy = "~" if p.status == "noisy" else ""
    if p.bound == "memory" and positive(p.bytes_per_s):
        return noisy + si(p.bytes_per_s, "B/s")
    return noisy + si(p.flops_per_s, "FLOP/s")


def about(run: Run, entries: Sequence[Entry]) -> list[str]:
    """Where the roofs come from, what the key leaves out, and what its names do."""
    points = [e.point for e in entries]
    sources = dict.fromkeys(s for r in theoretical(run.roofs) for s in r.source.split("; "))
    lines = [f"Theoretical roofs: {'; '.join(sources)}"] if sources else []
    if not run.roofs:
        lines.append("No roofs: none is known, and the run did not measure them")
    unlisted = sum(not e.label for e in entries)
    if unlisted:
        lines.append(
            "Numbered: our fastest row of each op and dtype, of GEMM the libraries'. "
            f"Small and pale: the other {unlisted} rows"
        )
    if any(p.cache == "cold" for p in points):
        lines.append("Caches are cold and data normally distributed, unless the key says otherwise")
    if any(p.status == "noisy" for p in points):
        lines.append("~ noisy: the interval of the time is wider than asked for")
    return lines


def warnings(run: Run, points: Sequence[Measurement]) -> list[str]:
    """Points that are wrong, rows that are no points, and that some may be missing."""
    lines = []
    if run.outcome != "complete":
        lines.append(f'Not a whole run, its outcome is "{run.outcome}": rows may be missing')
    above = sum(p.status == "above_roof" for p in points)
    if above:
        lines.append(f"Ringed: {above} above_roof, faster than the hardware can be")
    missing = Counter(m.status for m in run.measurements if not m.measured)
    missing["without a positive intensity and rate"] = sum(
        m.measured and m.op not in ROOF_OPS and not drawable(m) and not has_bandwidth(m)
        for m in run.measurements
    )
    if any(missing.values()):
        lines.append("Not drawn: " + ", ".join(f"{n} {why}" for why, n in missing.items() if n))
    return lines


def start(run: Run, title: str, entries: Sequence[Entry]) -> tuple[Figure, Axes]:
    """A sheet with its notes."""
    points = [e.point for e in entries]
    return new_sheet(run, title, entries, about(run, entries) + warnings(run, points))


# ---- the three pictures --------------------------------------------------------------------------


def drawable(m: Measurement) -> bool:
    return m.measured and m.op not in ROOF_OPS and positive(m.intensity) and positive(m.flops_per_s)


def has_bandwidth(m: Measurement) -> bool:
    """Whether a ramp of sizes may hold it, as one of transfers, which have no FLOPs."""
    moves = m.op not in ("empty", "fma", "mma", "gemm")
    return m.measured and moves and positive(m.moved_bytes) and positive(m.bytes_per_s)


def roof_of(p: Measurement) -> tuple[str, str]:
    """Pipe and dtype of the compute roof over a point, as `place` in roofline/roof.cpp finds it."""
    on_matrix = p.op == "gemm" and p.dtype != "fp32"
    return ("matrix", base_dtype(p)) if on_matrix else ("vector", "fp32")


def worth_listing(points: Sequence[Measurement]) -> list[Measurement]:
    """All that a column of the key holds. Of more, the fastest of each op and dtype, of ours, cold
    and of normal data where there are such rows (no GEMM is ours); and all that are wrong."""
    if len(points) <= KEY_ROWS:
        return list(points)

    def rank(p: Measurement) -> tuple[object, ...]:
        usual = p.implementation == "ours", p.cache == "cold", p.data == "normal"
        return *usual, p.status != "above_roof", p.flops_per_s

    fastest = set({(p.op, p.dtype): p for p in sorted(points, key=rank)}.values())
    return [p for p in points if p in fastest or p.status == "above_roof"]


def roofline(run: Run) -> Figure:
    """Every op that was measured, at its intensity and rate."""
    points = [m for m in run.measurements if drawable(m)]
    if not points:
        raise UnavailableError(
            f"{run.folder}: no measured row with a positive intensity and FLOP/s to draw"
        )
    ops = list(dict.fromkeys(p.op for p in points))
    points.sort(key=lambda p: (ops.index(p.op), p.intensity, p.dtype))
    listed = worth_listing(points)
    entries = [
        Entry(str(i), p, name, achieved(p))
        for i, (p, name) in enumerate(zip(listed, names(listed, points)), 1)
    ]
    entries += [Entry("", p) for p in points if p not in listed]
    return under_roofs(run, "Roofline", entries, [])


def ridge(run: Run) -> Figure:
    """The GEMMs that differ in M only, each labelled with its M, under the roofs of their types,
    with the fits that ridge.csv has."""
    sweeps = series(
        [m for m in run.measurements if drawable(m) and m.op == "gemm"],
        lambda m: (*swept(m), m.layout, m.batch, m.cache, m.data),
        lambda m: m.m,
    )
    if not sweeps:
        raise UnavailableError(
            f"{run.folder}: no GEMM at {SERIES_POINTS} values of M or more, N and K the same: "
            "measure with roofline_bench --suite=ridge"
        )
    points = [p for sweep in sweeps for p in sweep]
    entries = [Entry(str(p.m), p, arithmetic(p), achieved(p)) for p in points]
    sizes = ", ".join(dict.fromkeys(f"N×K = {p.n}×{p.k}" for p in points))
    return under_roofs(run, f"GEMM over M, {sizes}", entries, sweeps, read_fits(run.folder))


def swept(of: Measurement | RidgeFit) -> tuple[object, ...]:
    """What the rows of a sweep, and its fit, have in common."""
    return of.dtype, of.implementation, of.fast_accumulation, of.n, of.k


def under_roofs(
    run: Run,
    title: str,
    entries: Sequence[Entry],
    lines: Sequence[Sequence[Measurement]],
    fits: Sequence[RidgeFit] = (),
) -> Figure:
    """Points at intensity and FLOP/s, under the roofs that bind one of them; `lines` join some."""
    points = [e.point for e in entries]
    # No intensity is counted against the link.
    over = {("", ""), *map(roof_of, points)}
    roofs = [r for r in run.roofs if (r.pipe, r.dtype) in over and r.level != "link"]
    run = dataclasses.replace(run, roofs=roofs)
    figure, axes = start(run, title, entries)
    xs = [p.intensity for p in points]
    ys = [p.flops_per_s for p in points]
    corners = [intensity for _, intensity in ridges(run.roofs)]
    peaks = [r.per_s for r in compute(run.roofs)] or [max(xs) * r.per_s for r in run.roofs]
    axes.set(
        xlim=(min(xs + corners) / 3, max(xs + corners) * 3),
        ylim=(min(ys + peaks) / 3, max(ys + peaks) * 2.5),
        xlabel="arithmetic intensity (FLOP/byte)",
        ylabel="achieved FLOP/s",
    )
    name_ticks(axes.xaxis, lambda intensity: f"{intensity:,.10g}")
    name_ticks(axes.yaxis, lambda rate: si(rate, "FLOP/s"))
    labels = Labels(axes)
    for x, y in zip(xs, ys):
        labels.keep_clear(x, y, 9)
    draw_roofs(axes, labels, run)
    for line in lines:
        axes.plot(
            [p.intensity for p in line],
            [p.flops_per_s for p in line],
            color=marker(line[0])["color"],
            linewidth=1,
            zorder=3,
        )
        for fit in fits:
            draw_fit(axes, labels, fit, line)
    for entry, x, y in zip(entries, xs, ys):
        look = {"markersize": 8, "zorder": 4} if entry.label else PALE_POINT
        axes.plot([x], [y], **look, **marker(entry.point))
        if entry.point.status == "above_roof":
            axes.plot([x], [y], "o", markersize=16, color=ALARM, fillstyle="none", zorder=4)
        if entry.label:
            labels.beside(x, y, entry.label, TEXT_PT)
    return figure


def draw_fit(axes: Axes, labels: Labels, fit: RidgeFit, sweep: Sequence[Measurement]) -> None:
    """The two segments over the sweep that they were fitted to, and where they meet."""
    first, last = sweep[0], sweep[-1]
    knee, plateau = fit.knee_intensity_flops_per_byte, fit.plateau_flops_per_s
    if swept(fit) != swept(first):
        return
    if first.cache != "cold" or first.data != "normal" or not (knee and plateau and fit.slope):
        return
    start = plateau * (first.intensity / knee) ** fit.slope
    colour = marker(first)["color"]
    axes.plot(
        [first.intensity, knee, last.intensity],
        [start, plateau, plateau],
        color=colour,
        linewidth=1.4,
        linestyle=(0, (4, 2)),
        zorder=3,
    )
    axes.plot([knee], [plateau], "x", color=colour, markersize=9, zorder=5)
    # Down to where there are no points: at the knee the labels of several cover each other.
    low = axes.get_ylim()[0]
    axes.plot([knee, knee], [low, plateau], color=colour, linewidth=0.9, linestyle=":")
    who = fit.implementation + (" fast" if first.fast_accumulation == "true" else "")
    size = f", M = {significant(fit.knee_m, 3)}" if fit.knee_m else ""
    text = f"{who} knee: {significant(knee, 3)} FLOP/byte{size}"
    labels.along((knee, low), (knee, plateau), text, TEXT_PT, above=False, colour=colour)


def ramp(run: Run) -> Figure:
    """Bandwidth over the bytes that a launch moves: launch cost, then the plateau of each level."""
    ramps = series(
        [m for m in run.measurements if has_bandwidth(m)],
        lambda m: (m.op, m.dtype, m.implementation, m.variant, m.cache, m.data),
        lambda m: m.moved_bytes,
    )
    if not ramps:
        raise UnavailableError(
            f"{run.folder}: no op at {SERIES_POINTS} sizes or more: "
            "measure with roofline_bench --suite=ramp"
        )
    largest = [r[-1] for r in ramps]
    entries = [
        Entry(str(i), p, name, si(p.bytes_per_s, "B/s"))
        for i, (p, name) in enumerate(zip(largest, names(largest, largest)), 1)
    ]
    run = dataclasses.replace(run, roofs=[r for r in run.roofs if r.is_memory])
    figure, axes = start(run, "Bandwidth over size, in the key at the largest", entries)
    points = [p for r in ramps for p in r]
    sizes = [p.moved_bytes for p in points]
    rates = [p.bytes_per_s for p in points]
    axes.set_xscale("log", base=2)
    axes.set(
        xlim=(min(sizes) / 2, max(sizes) * 4),
        ylim=(min(rates) / 2, max([*rates, *(r.per_s for r in run.roofs)]) * 2),
        xlabel="bytes moved by a launch",
        ylabel="achieved B/s",
    )
    name_ticks(axes.xaxis, binary)
    name_ticks(axes.yaxis, lambda rate: si(rate, "B/s"))
    labels = Labels(axes)
    margin = []
    for roofs in kinds(run.roofs):
        for group in alike(roofs):
            axes.axhline(group[0].per_s, **roof_line(group[0]))
            text = textwrap.fill(memory_label(group, run), MARGIN_LETTERS)
            margin.append((group[0].per_s, text, roof_line(group[0])["color"]))
    labels.in_margin(sorted(margin, reverse=True), TEXT_PT)
    for p in points:
        labels.keep_clear(p.moved_bytes, p.bytes_per_s, 7)
    draw_launch_costs(axes, labels, run)
    for entry, line in zip(entries, ramps):
        rates = [p.bytes_per_s for p in line]
        axes.plot(
            [p.moved_bytes for p in line], rates, markersize=6, linewidth=1, **marker(line[0])
        )
        labels.beside(line[-1].moved_bytes, rates[-1], entry.label, TEXT_PT)
    return figure


def draw_launch_costs(axes: Axes, labels: Labels, run: Run) -> None:
    """What a launch of nothing takes, as the bandwidth that no launch of that size exceeds."""
    left, right = axes.get_xlim()
    low, high = axes.get_ylim()
    for m in run.measurements:
        if m.op != "empty" or not m.time_median_s or not positive(m.time_median_s):
            continue
        least, most = max(left, low * m.time_median_s), min(right, high * m.time_median_s)
        if least >= most:
            continue
        begin, end = (least, least / m.time_median_s), (most, most / m.time_median_s)
        axes.plot(*zip(begin, end), color=PALE, linewidth=0.9, linestyle=":")
        text = f"{m.op} {m.variant} {significant(m.time_median_s * 1e6, 3)} µs"
        labels.along(begin, end, text, TEXT_PT, above=True, colour=PALE)


def binary(size: float) -> str:
    factor, unit = next((f, u) for f, u in BINARY if size >= f or f == 1)
    return f"{size / factor:g} {unit}"


def series(
    points: Sequence[Measurement],
    same: Callable[[Measurement], object],
    along: Callable[[Measurement], float],
) -> list[list[Measurement]]:
    """Points that are the `same`, in their order `along` the series."""
    groups: dict[object, list[Measurement]] = {}
    for p in sorted(points, key=along):
        groups.setdefault(same(p), []).append(p)
    return [g for g in groups.values() if len({along(p) for p in g}) >= SERIES_POINTS]


# ---- command line --------------------------------------------------------------------------------

PICTURES: dict[str, Callable[[Run], Figure]] = {"roofline": roofline, "ramp": ramp, "ridge": ridge}


def figures(run: Run, picture: str) -> dict[str, Figure]:
    """The picture, or all that the run has rows for. Raises UnavailableError where that is none."""
    if picture != "all":
        return {picture: PICTURES[picture](run)}
    made, missing = {}, []
    for name, make in PICTURES.items():
        try:
            made[name] = make(run)
        except UnavailableError as unavailable:
            missing.append(unavailable)
    if not made:
        raise missing[0]
    return made


def save(figure: Figure, stem: Path) -> list[Path]:
    """As SVG and PNG, without date and version: the same run gives the same bytes."""
    paths = [stem.with_suffix(".svg"), stem.with_suffix(".png")]
    for path, metadata in zip(paths, ({"Date": None, "Creator": None}, {"Software": None})):
        figure.savefig(path, metadata=metadata)
    return paths


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="plot.py", description=__doc__)
    parser.add_argument("picture", choices=[*PICTURES, "all"])
    parser.add_argument("run", type=Path, metavar="RUN", help="folder of a run")
    parser.add_argument("--out", type=Path, metavar="DIR", help="where to write (default: RUN)")
    arguments = parser.parse_args(argv)

    def draw() -> None:
        run = read_run(arguments.run)
        out = arguments.out or run.folder
        with matplotlib.rc_context():
            matplotlib.rcdefaults()
            matplotlib.rcParams.update(STYLE)
            made = figures(run, arguments.picture)
            for line in warnings(run, run.measurements):
                print(f"plot.py: {line}", file=sys.stderr)
            out.mkdir(parents=True, exist_ok=True)
            for name, figure in made.items():
                print(*save(figure, out / name), sep="\n")

    return exit_code("plot.py", draw)


if __name__ == "__main__":
    raise SystemExit(main())
