"""The report of an evaluation for people: Markdown, made of the score file alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal

from pipeline.core.printable import printable
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.scores import Facet, Metric
from pipeline.evaluation.scores.references import ReferenceRun
from pipeline.evaluation.scores.result import Machine, Measured, Result
from pipeline.evaluation.views import TaskView
from pipeline.families.all_families import BY_NAME
from pipeline.lake.rows import AnyRow

_OTHERS = (Metric.EM, Metric.RECALL)
"""The metrics that are broken down where a family has no score by its main one: the first of these that it has."""
_MOST_GROUPS = 20


def report_of(result: Result) -> str:
    """Return the report."""
    measured = result.measured
    name = f"{measured.model} on {measured.setting}" if measured else result.snapshot
    parts = [f"# {_cell(name)}", _table(("", ""), _conditions(result))]
    for family in dict.fromkeys(Family(row["family"]) for row in result.scores):
        parts += _figures(family, [row for row in result.scores if row["family"] == family])
    if result.excluded:
        rows = [(reason, count, reason.meaning) for reason, count in result.excluded.items()]
        parts.append("## Not in a figure, or not in all\n\n" + _table(("reason", "number", "meaning"), rows))
    if measured:
        parts.append("## Answers\n\n" + _table(("", "samples"), _answers(measured)))
    if result.machine:
        parts.append("## Machine\n\n" + _table(("", ""), _machine(result.machine)))
    parts.append(
        "Intervals are 95%, by bootstrap over tasks. `driftline compare-scores THIS OTHER` compares two such folders,"
        " in pairs, on the tasks that both have."
    )
    return "\n\n".join(parts) + "\n"


def _conditions(result: Result) -> Iterator[tuple[object, ...]]:
    yield "snapshot", result.snapshot
    yield "manifest (sha256)", result.manifest_sha256
    yield "view", f"{TaskView(result.view, result.cutoff)}: {result.view.meaning}"
    if measured := result.measured:
        yield "setting", measured.setting
        yield "prompts (sha256)", measured.prompts_sha256
        yield "model", measured.model
        yield "endpoint", f"{measured.endpoint} ({measured.protocol})"
        yield "parameters", ", ".join(f"{name} {value}" for name, value in measured.parameters.items()) or "none"
        yield "tasks asked", measured.tasks
        yield "samples a task", measured.samples
        yield (
            "cost",
            f"{Decimal(measured.cost_usd):.4f} US dollars"
            if measured.cost_usd
            else "unknown: no price, or no tokens counted",
        )
    yield "driftline", result.driftline


def _figures(family: Family, rows: Sequence[AnyRow]) -> Iterator[str]:
    """Yield the figures of a family, and its main metric by facet."""
    apart = BY_NAME[family].apart
    title = family.replace("_", " ")
    lines = [
        (_label(row) if apart is Facet.FAMILY else f"{row['value']}: {_label(row)}", *_figure(row))
        for row in rows
        if row["facet"] == apart and row["mean"] is not None
    ]
    metrics = (BY_NAME[family].metric, *_OTHERS)
    main = next((metric for metric in metrics if any(row["metric"] == metric for row in rows)), None)
    heads = [
        f"**{'' if apart is Facet.FAMILY else row['value'] + ': '}{_label(row)} {row['mean']:.3f}**"
        f" ({row['low']:.3f} to {row['high']:.3f}), {row['tasks']} tasks"
        for row in rows
        if (row["facet"], row["metric"]) == (apart, main) and row["mean"] is not None
    ]
    yield "\n\n".join([f"## {title.capitalize()}", "  \n".join(heads)])
    yield _table(("metric", "tasks", "figure", "95%"), lines)
    for facet in dict.fromkeys(Facet(row["facet"]) for row in rows if row["facet"] not in (Facet.FAMILY, apart)):
        groups = [
            row
            for row in rows
            if (row["facet"], row["metric"], row["k"]) == (facet, main, 1) and row["mean"] is not None
        ]
        if len(groups) > 1:
            most = sorted(groups, key=lambda row: (-row["tasks"], row["value"]))[:_MOST_GROUPS]
            lines = [(row["value"], *_figure(row)) for row in most]
            head = (facet.replace("_", " "), "tasks", _name(Metric(main or "")), "95%")
            yield _table(head, lines)


def _figure(row: AnyRow) -> tuple[object, ...]:
    return row["tasks"], f"{row['mean']:.3f}", f"{row['low']:.3f} to {row['high']:.3f}"


def _label(row: AnyRow) -> str:
    return f"{_name(Metric(row['metric']))}@{row['k']}"


def _name(metric: Metric) -> str:
    return metric.meaning.partition(":")[0].replace("@k", "")


def _answers(measured: Measured) -> Iterator[tuple[object, ...]]:
    yield "answered", measured.answered
    yield "of these refused, scored as they are", measured.refused
    yield "of these cut off at the bound, scored as they are", measured.cut_off
    yield "of these empty", measured.empty
    yield "missing: ask again with the same command", measured.missing
    yield "input tokens", measured.input_tokens
    yield "output tokens", measured.output_tokens


def _machine(machine: Machine) -> Iterator[tuple[object, ...]]:
    yield "system", f"{machine.system}, {machine.processors} processors, {machine.workers} workers"
    yield "sandbox", machine.sandbox
    yield "limits of a run", f"{machine.time_s:g} s, {machine.memory_mib} MiB, {machine.repeats} repeats"
    yield "limit of a test of a project", f"{machine.test_time_s:g} s"
    for run in machine.references:
        yield f"reference of {run.family} {run.id}", reference_note(run)


def reference_note(run: ReferenceRun) -> str:
    """Return what a slow or failing reference means for its task."""
    if not run.passed:
        return f"{run.outcome} on this machine, so Pass@k of its task says nothing: {run.detail[:200]}"
    load = "the machine is too slow for the limit" if run.slow else "the machine was loaded"
    return f"{run.time_s:g} s of at most {run.limit_s:g} s, alone {run.alone_s:g} s: {load}"


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _cell(value: object) -> str:
    return printable(str(value)).replace("|", "\\|").replace("\n", " ")
