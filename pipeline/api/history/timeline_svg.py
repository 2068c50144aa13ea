"""The picture of a library's evolution as SVG: what came above the axis, what went below, so that breaks are seen.

Bars have a scale of square roots: a release that removes 3 APIs is seen beside one that removes 800. Nothing is
stacked, since heights on such a scale do not add up; a bar inside another is a part of it. Colours are those of Okabe
and Ito (jfly.uni-koeln.de/color), and hatching tells apart what grey shades would not. Equal input gives equal bytes.
"""

from __future__ import annotations

import io
import math
import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape

import matplotlib as mpl
import more_itertools
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter
from packaging.version import Version

from pipeline.api.history.change_text import counted_releases
from pipeline.api.history.evolution import Step

_STYLE: dict[Any, Any] = {
    "svg.hashsalt": "driftline",
    "svg.fonttype": "none",
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "hatch.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
_NICE = (1, 2, 5)
_LETTERS = 16
"""Letters of the source line in an inch."""

NUMBERED = 30
"""Up to so many releases have their counts written at the bars."""

DATED = 10
"""Up to so many releases have their names in two lines, aslant."""

NAMED = 60
"""Up to so many releases all have names."""


@dataclass(frozen=True, slots=True)
class _Series:
    """One set of bars: what it counts, upwards (1) or downwards (-1)."""

    name: str
    label: str
    side: int
    colour: str
    hatch: str
    count: Callable[[Step], int]


_ADDED_AND_REMOVED = (
    _Series("introduced", "introduced", 1, "#0072B2", "", lambda s: s.introduced),
    _Series("gone", "removed, renamed or moved", -1, "#D55E00", "", lambda s: s.removed + s.moved),
    _Series("moved", "of which renamed or moved", -1, "#F5C8A8", "", lambda s: s.moved),
)
_CHANGED = (
    _Series("modified", "modified", 1, "#9AA5B1", "", lambda s: s.modified),
    _Series("breaking", "of which can break calls", 1, "#D55E00", "", lambda s: s.breaking),
    _Series("deprecated", "deprecated", -1, "#F0E442", "////", lambda s: s.deprecated),
)


def evolution_svg(library: str, steps: Sequence[Step]) -> str:
    """Draw the evolution of a library; every count stands in the picture's description and at its bar too.

    Errors: ValueError where there is no step to draw.
    """
    if not steps:
        raise ValueError(f"{library}: no release to draw")
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE)
        figure = draw(library, steps)
        written = io.StringIO()
        figure.savefig(written, format="svg", metadata={"Date": None, "Creator": "driftline", "Title": _title(library)})
    return _described(written.getvalue(), steps)


def draw(library: str, steps: Sequence[Step]) -> Figure:
    """Draw the figure itself, under whatever style is set."""
    figure = Figure(figsize=(min(max(7.5, 3 + len(steps) * 0.16), 18), 7.5), layout="constrained")
    upper, lower, size = figure.subplots(3, 1, sharex=True, height_ratios=[3, 3, 1])
    _bars(upper, steps, _ADDED_AND_REMOVED)
    _bars(lower, steps, _CHANGED)
    upper.set_ylabel("gone  ←  APIs  →  came", fontsize=8.5)
    lower.set_ylabel("deprecated  ←  APIs  →  modified", fontsize=8.5)
    _size(size, steps)
    for axes in (upper, lower, size):
        _majors(axes, steps)
    _releases(size, steps)
    figure.suptitle(_title(library), fontsize=13, fontweight="bold", x=0.01, ha="left")
    figure.align_ylabels()
    source = textwrap.fill(_source(library, steps), int(figure.get_figwidth() * _LETTERS))
    figure.supxlabel(source, fontsize=7.5, color="#555555", x=0.01, ha="left")
    return figure


def _title(library: str) -> str:
    return f"How the public API of {library} evolved"


def _source(library: str, steps: Sequence[Step]) -> str:
    first, last = steps[0], steps[-1]
    return (
        f"Source: driftline, {counted_releases([step.version for step in steps])} of {library} on the package index, "
        f"{first.version} ({first.release_time:%Y-%m-%d}) to {last.version} ({last.release_time:%Y-%m-%d}), "
        "sources compared release by release. Scale of square roots."
    )


def _bars(axes: Axes, steps: Sequence[Step], series: Sequence[_Series]) -> None:
    axes.set_yscale("function", functions=(_root, lambda values: values * abs(values)))
    for each in series:
        places = [at for at, step in enumerate(steps) if each.count(step)]
        heights = [each.side * each.count(steps[at]) for at in places]
        look: dict[str, Any] = {"color": each.colour, "hatch": each.hatch, "edgecolor": "#333333", "linewidth": 0.3}
        for at, bar in zip(places, axes.bar(places, heights, 0.78, label=each.label, **look), strict=True):
            bar.set_gid(f"{each.name}-{at}")
    highest = [max(each.count(step) for each in series for step in steps if each.side == side) for side in (1, -1)]
    _scale(axes, *highest)
    axes.axhline(0, color="#333333", linewidth=0.8)
    if len(steps) <= NUMBERED:
        _numbers(axes, steps, series)
    above: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1.0), "borderaxespad": 0.2}
    axes.legend(ncols=len(series), frameon=False, fontsize=8.5, **above)


def _numbers(axes: Axes, steps: Sequence[Step], series: Sequence[_Series]) -> None:
    """Write the counts at the ends of bars where there is room for them."""
    for each in (series[0], more_itertools.first(s for s in series if s.side < 0)):
        for at, step in enumerate(steps):
            if each.count(step):
                axes.annotate(
                    str(each.count(step)),
                    (at, each.side * each.count(step)),
                    xytext=(0, 3 * each.side),
                    textcoords="offset points",
                    ha="center",
                    va="bottom" if each.side > 0 else "top",
                    fontsize=7.5,
                )


def _root(values: Any) -> Any:
    """Return square roots of an array, with their sign."""
    return (values > 0) * abs(values) ** 0.5 - (values < 0) * abs(values) ** 0.5


def _scale(axes: Axes, above: int, below: int) -> None:
    """Set limits with room for numbers, and ticks that are round and not too close to each other."""
    top, bottom = math.sqrt(max(above, 1)), math.sqrt(max(below, 1))
    room = 0.1 * (top + bottom)
    axes.set_ylim(-((bottom + room) ** 2), (top + room) ** 2)
    least = 0.11 * (top + bottom)
    ticks = [0, *_ticks(above, least), *(-tick for tick in _ticks(below, least))]
    axes.yaxis.set_major_locator(FixedLocator(sorted(ticks)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{abs(value):,.0f}"))
    axes.grid(axis="y", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)


def _ticks(highest: int, least: float) -> Iterator[int]:
    """Yield round numbers up to the highest count whose roots are at least so far apart."""
    last = 0.0
    for tick in (nice * 10**power for power in range(7) for nice in _NICE):
        if tick <= highest and math.sqrt(tick) - last >= least:
            last = math.sqrt(tick)
            yield tick


def _size(axes: Axes, steps: Sequence[Step]) -> None:
    axes.plot(range(len(steps)), [step.size for step in steps], drawstyle="steps-mid", color="#333333", linewidth=1.4)
    axes.set_ylim(0, max(step.size for step in steps) * 1.15 + 1)
    axes.set_ylabel("public paths", fontsize=8.5)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.grid(axis="y", color="#dddddd", linewidth=0.6)


def _majors(axes: Axes, steps: Sequence[Step]) -> None:
    axes.set_xlim(-0.8, len(steps) - 0.2)
    for at, step in enumerate(steps):
        if step.major and at:
            axes.axvline(at - 0.5, color="#333333", linewidth=0.7, linestyle=(0, (4, 3)), zorder=0)


def _releases(axes: Axes, steps: Sequence[Step]) -> None:
    """Name the releases below: all with their dates where there is room, else majors and, between them, what fits."""
    few = len(steps) <= DATED
    labelled = list(range(len(steps))) if len(steps) <= NAMED else _spread(steps)
    form = "{0.version}\n{0.release_time:%Y-%m-%d}" if few else "{0.release_time:%Y-%m}  {0.version}"
    axes.set_xticks(
        labelled, [form.format(steps[at]) for at in labelled], rotation=45 if few else 90, fontsize=8 if few else 7
    )
    for at, text in zip(labelled, axes.get_xticklabels(), strict=True):
        if few:
            text.set(ha="right", rotation_mode="anchor")
        if steps[at].major:
            text.set_fontweight("bold")


def _spread(steps: Sequence[Step]) -> list[int]:
    """Choose releases to name: the first, the last, majors, minors, then others wherever none is near."""
    apart = len(steps) / NAMED
    every = range(len(steps))
    minors = [at for at in every if Version(steps[at].version).micro == 0]
    chosen: list[int] = []
    for at in (0, len(steps) - 1, *(at for at in every if steps[at].major), *minors, *every):
        if all(abs(at - other) >= apart for other in chosen):
            chosen.append(at)
    return sorted(chosen)


def _described(svg: str, steps: Sequence[Step]) -> str:
    """Add what a screen reader reads, and what a pointer shows: the counts as text."""
    svg = re.sub(r"<svg ", '<svg role="img" ', svg, count=1)
    lines = "\n".join(_counts(step) for step in steps)
    svg = svg.replace("</title>", f"</title>\n <desc>{escape(lines)}</desc>", 1)
    labels = {each.name: each for each in (*_ADDED_AND_REMOVED, *_CHANGED)}

    def titled(match: re.Match[str]) -> str:
        step, each = steps[int(match[2])], labels[match[1]]
        return f"{match[0]}<title>{escape(step.version)}: {each.count(step)} {each.label}</title>"

    return re.sub(rf'<g id="({"|".join(labels)})-(\d+)">', titled, svg)


def _counts(step: Step) -> str:
    day = f"{step.version} ({step.release_time:%Y-%m-%d})"
    if not step.compared:
        return f"{day}: nothing to compare with, {step.size} public paths"
    return (
        f"{day}: {step.introduced} introduced, {step.deprecated} deprecated, {step.removed} removed, "
        f"{step.moved} renamed or moved, {step.modified} modified ({step.breaking} can break calls), "
        f"{step.size} public paths"
    )
