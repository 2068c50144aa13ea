"""`driftline score`: the metrics of the papers for a file of predictions."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Annotated, Any

import typer
from rich.table import Table

from pipeline.cli.options import Json
from pipeline.cli.output import BAD_USAGE, PROBLEM, fail, notify, out, print_json, print_table, progress
from pipeline.cli.scoring.views import Cutoff, ViewName, view_of
from pipeline.cli.snapshots import SnapshotName, find_snapshot
from pipeline.core.errors import InputError
from pipeline.core.rules.load import load
from pipeline.core.settings import settings
from pipeline.core.vocabularies.evaluation import View
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.samples import Granularity
from pipeline.core.vocabularies.scores import Facet, Metric
from pipeline.evaluation.scores.result import result_of, write_result
from pipeline.evaluation.scores.rules import ScoreRules
from pipeline.evaluation.scores.running import Runners, runners_at
from pipeline.evaluation.scores.score import REFERENCE_RUNS, RUNS, Scored, score_predictions, write
from pipeline.evaluation.verdicts import write_verdicts
from pipeline.execution.caches.using import use_caches
from pipeline.families.all_families import BY_NAME
from pipeline.lake.rows import ScoreRow
from pipeline.snapshots.format.manifest import SnapshotError

REPORT = "report.md"
"""The report of an evaluation, beside the files of its scoring."""

LISTED = 10
"""Exclusions that the command prints; the file has all."""


def score(
    snapshot: SnapshotName,
    predictions: Annotated[
        Path, typer.Argument(help="JSON lines, a task each; - is standard input.", show_default=False)
    ],
    k: Annotated[
        str | None, typer.Option("--k", help="Samples drawn; by default those of scores.yaml.", metavar="1,3,10")
    ] = None,
    run: Annotated[bool, typer.Option("--run", help="Run the predictions too, in the sandbox: Pass@k.")] = False,
    view: ViewName = View.ALL,
    cutoff: Cutoff = None,
    by: Annotated[Facet | None, typer.Option("--by", help="Print the figures of each group of this facet.")] = None,
    folder: Annotated[
        Path | None,
        typer.Option("--out", help="Folder for table, picture, verdicts, runs and exclusions.", metavar="DIR"),
    ] = None,
    json: Json = False,
) -> None:
    """Score predictions against a snapshot: EM, ISM, PM, CDC, API hits and F1, recall, MRR; Pass@k with --run.

    A line is a JSON object with an `id` and a list of `completions`, or, for retrievers, of `documents`, best first.
    The view is `all`, since answers tell which tasks they are for. A narrower one leaves out the other answers.
    Ends with status 0, 1 if a prediction could not be counted, 2 for bad usage.

    Example: driftline score starter predictions.jsonl --k 1,3 --out scores
    """
    rules, chosen = rules_for(k), view_of(view, cutoff)
    snapshot_folder = find_snapshot(snapshot)
    if folder and folder.exists() and not folder.is_dir():
        fail(f"--out {folder} is a file; name a folder", BAD_USAGE)
    if folder and (folder / REPORT).exists():
        problem = f"--out {folder} has the {REPORT} of `driftline evaluate`; name another folder"
        fail(InputError(problem, code="score_folder_taken"), BAD_USAGE)
    try:
        with _file(predictions) as file, progress("scoring") as report:
            runs = folder / RUNS if folder else None
            runners = sandboxed() if run else None
            scored = score_predictions(
                snapshot_folder,
                file,
                rules,
                runners,
                runs,
                report,
                view=chosen,
                references=settings().cache / REFERENCE_RUNS,
            )
    except (SnapshotError, InputError) as error:
        fail(error, BAD_USAGE)
    if not scored.samples and not scored.excluded:
        fail(InputError(f"{predictions}: no line has a prediction", code="predictions_empty"))
    if folder:
        write(scored, folder, f"{snapshot_folder.name}, {predictions.stem}", rules)
        write_verdicts(scored, folder)
        write_result(result_of(snapshot_folder, scored, chosen, runners), folder)
    if json:
        print_json(as_json(snapshot_folder, scored))
    else:
        print_scored(scored, rules, by, folder)
    if scored.flawed or not scored.samples:
        raise typer.Exit(PROBLEM)


def sandboxed() -> Runners:
    """Return what runs answers on this machine, and have nobody clear its caches meanwhile."""
    runners = runners_at(settings().cache)
    use_caches(settings().cache, runners)
    return runners


def rules_for(k: str | None) -> ScoreRules:
    """Return the rules of scoring with the samples drawn of an option; ends with status 2 for a wrong one."""
    rules = load(settings().rules / "scores.yaml", ScoreRules)
    if k is None:
        return rules
    parts = [part.strip() for part in k.split(",")]
    if not all(part.isdecimal() and 0 < int(part) <= rules.samples for part in parts):
        fail(f"--k {k!r}: whole numbers from 1 to {rules.samples} with commas between them, such as 1,3,10", BAD_USAGE)
    return rules.model_copy(update={"k": tuple(sorted({int(part) for part in parts}))})


@contextmanager
def _file(predictions: Path) -> Iterator[IO[bytes]]:
    if str(predictions) == "-":
        yield sys.stdin.buffer
        return
    if not predictions.exists() or predictions.is_dir():
        fail(f"{predictions}: {'a folder; name a file' if predictions.is_dir() else 'no such file'}", BAD_USAGE)
    with predictions.open("rb") as file:
        yield file


def as_json(snapshot: Path, scored: Scored) -> dict[str, Any]:
    """Return the scores as JSON."""
    return {
        "snapshot": str(snapshot),
        "samples": scored.samples,
        "runs": scored.runs,
        "answered": {family: {"tasks": done, "of": of} for family, (done, of) in scored.answered.items()},
        "excluded": dict(sorted(scored.reasons.items())),
        "scores": scored.rows,
    }


def print_scored(scored: Scored, rules: ScoreRules, by: Facet | None, folder: Path | None) -> None:
    """Print the figures, and what is not counted."""
    for family in Family:
        facet = by or BY_NAME[family].apart
        rows = [row for row in scored.rows if (row["family"], row["facet"]) == (family, facet)]
        most = sorted({row["value"]: row["tasks"] for row in rows}.items(), key=lambda group: (-group[1], group[0]))
        for value, _ in sorted(most[: rules.groups_in_picture]):
            name = family if facet is Facet.FAMILY else f"{family}, {facet} {value}"
            _print_group(name.replace("_", " "), [row for row in rows if row["value"] == value], rules.k)
    _report_short(scored.rows)
    _report_open(scored.rows)
    _report_references(scored)
    for family, (done, of) in scored.answered.items():
        notify(f"{family}: {done} of {of} tasks answered")
    _print_excluded(scored)
    if folder:
        notify(f"Table, verdicts and exclusions: {folder}")


def _print_group(title: str, rows: Sequence[ScoreRow], ks: Sequence[int]) -> None:
    by_metric = {(row["metric"], row["k"]): row for row in rows if row["mean"] is not None}
    columns = [k for k in ks if any(key[1] == k for key in by_metric)]
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    table.add_column("metric")
    table.add_column("tasks", justify="right")
    for k in columns:
        table.add_column(f"@{k}", justify="right")
        table.add_column("95%", style="dim")
    for metric in Metric:
        cells = [_cells(by_metric.get((metric, k))) for k in columns]
        if any(cell[0] for cell in cells):
            tasks = max(row["tasks"] for (of, _), row in by_metric.items() if of == metric)
            table.add_row(_label(metric, rows[0]), f"{tasks:,}", *sum(cells, ()))
    if table.row_count:
        out.print(table)
        out.print()


def _label(metric: Metric, row: ScoreRow) -> str:
    """Return the label of a metric; EM is an exact match for tokens only."""
    name = metric.meaning.partition(":")[0].replace("@k", "")
    if metric is not Metric.EM or row["value"] == Granularity.TOKEN:
        return name
    mixed = "granularity" in BY_NAME[Family(row["family"])].scoring and row["facet"] != Facet.GRANULARITY
    return f"{name} ({'equal tokens, else ' if mixed else ''}name occurs)"


def _cells(row: ScoreRow | None) -> tuple[str, ...]:
    return (f"{row['mean']:.3f}", f"{row['low']:.3f} to {row['high']:.3f}") if row else ("", "")


def _report_short(rows: Sequence[ScoreRow]) -> None:
    """Report tasks with fewer samples than k."""
    short = [row for row in rows if row["facet"] == Facet.FAMILY and row["short"]]
    for family, k in dict.fromkeys((row["family"], row["k"]) for row in short):
        most = max((row for row in short if (row["family"], row["k"]) == (family, k)), key=lambda row: row["short"])
        others = f"the other {most['tasks']} count" if most["tasks"] else "so there is no figure"
        notify(f"{family}: {most['short']} tasks have fewer than {k} samples and are left out of every @{k}; {others}")


def _report_open(rows: Sequence[ScoreRow]) -> None:
    """Report samples without a score."""
    of_families = {(row["family"], row["metric"]): row["open"] for row in rows if row["facet"] == Facet.FAMILY}
    for (family, metric), waiting in of_families.items():
        if waiting:
            name = Metric(metric).meaning.partition(":")[0]
            notify(f"{family}: {waiting} samples have no {name} yet; run the command again with the same --out")


def _report_references(scored: Scored) -> None:
    """Report references that are slow on this machine, or fail."""
    failing = [run for run in scored.references if not run.passed]
    slow = [run for run in scored.references if run.passed]
    if failing:
        first = f"{failing[0].family} {failing[0].id}: {failing[0].outcome}"
        notify(f"{len(failing)} references fail on this machine, so Pass@k of their tasks says nothing; first {first}")
    if slow:
        alone = sum(run.slow for run in slow)
        notify(
            f"{len(slow)} references took over half the time limit, {alone} of them also alone; result.json has them"
        )


def _print_excluded(scored: Scored) -> None:
    if not scored.excluded:
        return
    counts = [(reason, number, reason.meaning) for reason, number in scored.reasons.items()]
    print_table("not counted", ("reason", "number", "meaning"), counts)
    lines = [excluded for excluded in scored.excluded if excluded.line is not None]
    for excluded in lines[:LISTED]:
        named = f" ({excluded.id})" if excluded.id else ""
        notify(f"line {excluded.line}{named}: {excluded.reason}: {excluded.detail}")
    if len(lines) > LISTED:
        notify(f"and {len(lines) - LISTED} more lines; --out DIR writes all of them")
