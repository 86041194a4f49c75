"""Draws the roofs of a run with their names and ridge points."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from matplotlib.axes import Axes

from labels import Labels
from run_files import Roof, Run
from sheet import INK, PALE, TEXT_PT, roof_line, si, significant

# What people call the parts of a GPU; other backends get neutral words.
CUDA_WORDS = {"cache": "L2", "vector": "CUDA cores", "matrix": "tensor cores"}
NEUTRAL_WORDS = {"cache": "cache", "vector": "vector units", "matrix": "matrix units"}
KINDS = {"datasheet": "data sheet", "derived": "derived", "measured": "measured"}


def theoretical(roofs: Sequence[Roof]) -> list[Roof]:
    """The data sheet's, and the derived ones where it says nothing."""
    listed = [r for r in roofs if r.kind == "datasheet"]
    known = {(r.level, r.pipe, r.dtype) for r in listed}
    derived = [r for r in roofs if r.kind == "derived"]
    return listed + [r for r in derived if (r.level, r.pipe, r.dtype) not in known]


def measured(roofs: Sequence[Roof]) -> list[Roof]:
    """The fastest of each: the file also has the best GEMM beside the matrix pipe's own roof, and
    roofs that a later row raised."""
    fastest: dict[tuple[str, str, str, str], Roof] = {}
    for r in sorted((r for r in roofs if r.measured), key=lambda r: r.per_s):
        fastest[r.level, r.access, r.pipe, r.dtype] = r
    return [r for r in roofs if r in fastest.values()]


def kinds(roofs: Sequence[Roof]) -> list[list[Roof]]:
    """Theoretical, measured: the lines of one stroke, which meet in ridges."""
    return [k for k in (theoretical(roofs), measured(roofs)) if k]


def bandwidth(roofs: Sequence[Roof]) -> float | None:
    """Of the best access mix; the ridges are those of memory, not of the cache."""
    return max((r.per_s for r in roofs if r.level == "memory"), default=None)


def compute(roofs: Sequence[Roof]) -> list[Roof]:
    return [r for r in roofs if not r.is_memory]


def alike(roofs: Sequence[Roof], within: float = 0.1) -> list[list[Roof]]:
    """From high to low, those of one level or pipe that differ by less together: lines that close
    share a label."""
    groups: list[list[Roof]] = []
    for r in sorted(roofs, key=lambda r: (-r.per_s, r.dtype)):
        last = groups[-1][0] if groups else None
        if (
            last
            and (last.level, last.pipe) == (r.level, r.pipe)
            and last.per_s < (1 + within) * r.per_s
        ):
            groups[-1].append(r)
        else:
            groups.append([r])
    return groups


def rates(group: Sequence[Roof], called: Callable[[Roof], str], unit: str) -> str:
    """The unit stands once where it is the same: `read 3.18, copy 3.05 TB/s measured`. A data sheet
    is quoted to its last digit: 989.5 TFLOP/s."""
    digits = 3 if group[0].measured else 4
    texts = list(dict.fromkeys(f"{called(r)} {si(r.per_s, unit, digits)}".strip() for r in group))
    same = texts[-1].rpartition(" ")[2]
    values = ", ".join([t.removesuffix(f" {same}") for t in texts[:-1]] + texts[-1:])
    return f"{values} {KINDS[group[0].kind]}"


def memory_label(group: Sequence[Roof], run: Run) -> str:
    level = {"cache": f"{words(run)['cache']} ", "link": "link "}.get(group[0].level, "")
    return level + rates(group, lambda r: r.access or r.name.upper(), "B/s")


def compute_label(group: Sequence[Roof], run: Run) -> str:
    values = rates(group, lambda _: "", "FLOP/s")
    return f"{values}\n{dtypes(group)} {words(run)[group[0].pipe]}"


def dtypes(group: Sequence[Roof]) -> str:
    return ", ".join(dict.fromkeys(r.dtype for r in group))


def words(run: Run) -> dict[str, str]:
    return CUDA_WORDS if run.backend == "cuda" else NEUTRAL_WORDS


def draw_roofs(axes: Axes, labels: Labels, run: Run) -> None:
    """Slanted memory roofs, flat compute roofs, and their ridge points. Roofs that are alike are
    one line, at the highest."""
    left, right = axes.get_xlim()
    low, _ = axes.get_ylim()
    margin, slanted = [], []
    for roofs in kinds(run.roofs):
        top = max((r.per_s for r in compute(roofs) or compute(run.roofs)), default=math.inf)
        slope = bandwidth(roofs) or bandwidth(run.roofs) or math.inf
        for group in alike(compute(roofs)):
            peak = group[0].per_s
            axes.plot([max(left, peak / slope), right], [peak, peak], **roof_line(group[0]))
            margin.append((peak, compute_label(group, run), roof_line(group[0])["color"]))
        for group in alike([r for r in roofs if r.is_memory]):
            rate = group[0].per_s
            start, end = max(left, low / rate), min(right, top / rate)
            if start < end:
                axes.plot([start, end], [start * rate, end * rate], **roof_line(group[0]))
                slanted.append((group, (start, start * rate), (end, end * rate)))
    labels.in_margin(sorted(margin, reverse=True), TEXT_PT)
    for group, intensity in ridges(run.roofs):
        draw_ridge_point(axes, labels, group, intensity)
    for group, begin, finish in slanted:
        fastest = max(r.per_s for r in run.roofs if r.level == group[0].level)
        labels.along(
            begin,
            finish,
            memory_label(group, run),
            TEXT_PT,
            above=group[0].per_s == fastest,
            colour=roof_line(group[0])["color"],
        )


def ridges(roofs: Sequence[Roof]) -> list[tuple[list[Roof], float]]:
    """Compute roofs and the intensity at which they meet memory: of the theoretical roofs, or of
    the measured ones where there are no others."""
    for kind in kinds(roofs):
        slope = bandwidth(kind)
        if slope and compute(kind):
            return [(group, group[0].per_s / slope) for group in alike(compute(kind), 1e-3)]
    return []


def draw_ridge_point(axes: Axes, labels: Labels, group: Sequence[Roof], ridge: float) -> None:
    low, peak = axes.get_ylim()[0], group[0].per_s
    axes.plot([ridge, ridge], [low, peak], color=PALE, linewidth=0.9, linestyle=":")
    axes.plot([ridge], [peak], "o", color=INK, markersize=4.5)
    labels.keep_clear(ridge, peak, 6)
    labels.along(
        (ridge, low),
        (ridge, peak),
        f"ridge {dtypes(group)}: {significant(ridge, 3)} FLOP/byte",
        TEXT_PT,
        above=True,
        colour=INK,
    )
