"""The picture of scores as SVG: a panel for each family and facet, a dot for each group, its 95% interval as a line.

Colours are those of Okabe and Ito (jfly.uni-koeln.de/color); markers tell the metrics apart without colours.
Equal input gives equal bytes.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.scores import Facet, Metric
from pipeline.lake.rows import ScoreRow

_STYLE: dict[Any, Any] = {
    "svg.hashsalt": "driftline",
    "svg.fonttype": "none",
    "font.family": "DejaVu Sans",
    "font.size": 8.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_MARKERS = "osD^vPX*<>"
_DRAWN = (
    Metric.EM,
    Metric.ISM,
    Metric.PM,
    Metric.CDC,
    Metric.API_F1,
    Metric.API_HIT,
    Metric.RECALL,
    Metric.MRR,
    Metric.RELEASES,
    Metric.PASS,
)
"""Metrics in the picture; the rules of CDC stand in the table."""

_ACROSS = 3
_ROW_IN = 0.19
_PANEL_IN = 0.75


@dataclass(frozen=True, slots=True)
class _Panel:
    """One facet of one family: its groups from top to bottom, and their rows by metric and group."""

    family: Family
    facet: Facet
    groups: Sequence[str]
    rows: Mapping[tuple[str, str], ScoreRow]

    @property
    def metrics(self) -> list[Metric]:
        """The metrics that it has, in their order."""
        return [metric for metric in _DRAWN if any(key[0] == metric for key in self.rows)]


def scores_svg(title: str, rows: Sequence[ScoreRow], facets: Sequence[Facet], limit: int) -> str:
    """Draw the scores of one sample (k = 1) by facet, at most `limit` groups of each: those with the most tasks.

    Errors: ValueError where there is nothing to draw.
    """
    panels = [panel for family in Family for facet in facets if (panel := _panel(family, facet, rows, limit))]
    panels = panels or [panel for family in Family if (panel := _panel(family, Facet.FAMILY, rows, limit))]
    if not panels:
        raise ValueError("no score to draw: no task has a sample")
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE)
        figure = _draw(title, panels)
        written = io.StringIO()
        figure.savefig(written, format="svg", metadata={"Date": None, "Creator": "driftline", "Title": title})
    return _described(written.getvalue(), panels)


def _panel(family: Family, facet: Facet, rows: Sequence[ScoreRow], limit: int) -> _Panel | None:
    drawn = {
        (row["metric"], row["value"]): row
        for row in rows
        if (row["family"], row["facet"], row["k"]) == (family, facet, 1)
        and row["metric"] in _DRAWN
        and row["mean"] is not None
    }
    tasks = {value: max(row["tasks"] for (_, of), row in drawn.items() if of == value) for _, value in drawn}
    if len(tasks) < 2 and facet is not Facet.FAMILY:
        return None  # it would repeat another panel
    most = sorted(tasks, key=lambda value: (-tasks[value], value))[:limit]
    return _Panel(family, facet, sorted(most), drawn) if most else None


def _draw(title: str, panels: Sequence[_Panel]) -> Figure:
    bands = [*_bands(panels)]
    heights = [max(_height(panel) for panel in band) for band in bands]
    across = max(len(band) for band in bands)
    figure = Figure(figsize=(max(4.1 * across, 6), sum(heights) + 0.8), layout="constrained")
    grid = figure.add_gridspec(len(bands), across, height_ratios=heights)
    for down, band in enumerate(bands):
        for right, panel in enumerate(band):
            _draw_panel(figure.add_subplot(grid[down, right]), panel, max(len(other.groups) for other in band))
    metrics = [metric for metric in _DRAWN if any(metric in panel.metrics for panel in panels)]
    handles = [mpl.lines.Line2D([], [], linestyle="", **_look(metric), label=_name(metric)) for metric in metrics]
    figure.suptitle(title, fontsize=11, fontweight="bold", x=0.01, ha="left")
    figure.legend(handles=handles, loc="outside lower left", ncols=len(handles), frameon=False)
    return figure


def _bands(panels: Sequence[_Panel]) -> Iterator[Sequence[_Panel]]:
    """Yield rows of panels: those of one family with similar numbers of groups."""
    for family in dict.fromkeys(panel.family for panel in panels):
        own = sorted((panel for panel in panels if panel.family is family), key=lambda panel: len(panel.groups))
        few = len(own) % _ACROSS
        yield from ([own[:few]] if few else [])
        yield from (own[at : at + _ACROSS] for at in range(few, len(own), _ACROSS))


def _height(panel: _Panel) -> float:
    return _PANEL_IN + _ROW_IN * len(panel.groups) * max(1.0, 0.6 * len(panel.metrics))


def _numbers(*values: float | None) -> list[float]:
    """Return figures that a row has, since its mean is there."""
    return [value for value in values if value is not None]


def _draw_panel(axes: Axes, panel: _Panel, room: int) -> None:
    metrics = panel.metrics
    for down, value in enumerate(panel.groups):
        for at, metric in enumerate(metrics):
            if row := panel.rows.get((metric, value)):
                y = down + 0.7 * ((at + 0.5) / len(metrics) - 0.5)
                look = _look(metric)
                axes.plot(_numbers(row["low"], row["high"]), [y, y], color=look["color"], linewidth=1.1)
                axes.plot(_numbers(row["mean"]), [y], linestyle="", **look)
    tasks = {value: max(row["tasks"] for (_, of), row in panel.rows.items() if of == value) for value in panel.groups}
    axes.set_yticks(range(len(panel.groups)), [f"{value}  ({tasks[value]:,})" for value in panel.groups])
    axes.set_ylim(room - 0.5, -0.5)
    axes.set_xlim(-0.02, 1.02)
    axes.grid(axis="x", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    facet = "" if panel.facet is Facet.FAMILY else f" by {panel.facet.replace('_', ' ')}"
    axes.set_title(f"{panel.family.replace('_', ' ')}{facet}", fontsize=9, loc="left")


def _look(metric: Metric) -> dict[str, Any]:
    at = _DRAWN.index(metric)
    return {"marker": _MARKERS[at], "color": _COLOURS[at % len(_COLOURS)], "markersize": 4}


def _name(metric: Metric) -> str:
    name = metric.meaning.partition(":")[0].replace("@k", "@1")
    return f"{name} (equal tokens, else name occurs)" if metric is Metric.EM else name


def _described(svg: str, panels: Sequence[_Panel]) -> str:
    """Add every figure as text, for screen readers."""
    svg = re.sub(r"<svg ", '<svg role="img" ', svg, count=1)
    lines = "\n".join(
        f"{panel.family}, {panel.facet} {value}, {metric}@1: {row['mean']} ({row['low']} to {row['high']}), "
        f"{row['tasks']} tasks"
        for panel in panels
        for (metric, value), row in panel.rows.items()
        if value in panel.groups
    )
    return svg.replace("</title>", f"</title>\n <desc>{escape(lines)}</desc>", 1)
