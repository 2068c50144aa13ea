"""`driftline compare-scores`: two score files on the tasks that both have."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from pipeline.cli.options import Json
from pipeline.cli.output import BAD_USAGE, PROBLEM, fail, notify, out, print_json, print_table
from pipeline.cli.snapshots import find_snapshot
from pipeline.core.rules.load import load
from pipeline.core.settings import settings
from pipeline.evaluation.scores.comparison import Difference, ScoreComparison, compare_results
from pipeline.evaluation.scores.result import ResultError, read_result
from pipeline.evaluation.scores.rules import ScoreRules
from pipeline.evaluation.scores.tasks import read_errata
from pipeline.snapshots.format.reader import Snapshot

Scores = Annotated[Path, typer.Argument(help="Folder of a scoring, or its result.json.", show_default=False)]


def compare_scores(
    first: Scores,
    second: Scores,
    k: Annotated[int, typer.Option("--k", min=1, help="Samples drawn.")] = 1,
    errata: Annotated[
        str | None,
        typer.Option(help="Leave out tasks that errata of this snapshot, or latest of a profile, took back."),
    ] = None,
    json: Json = False,
) -> None:
    """Compare two scorings on the tasks that both have: differences, 95% intervals, and a paired test of each.

    Tasks are the same if their ids are, in different snapshots too. Conditions that differ are listed. Ends with
    status 0, 1 if no task is common, 2 for bad usage.

    Example: driftline compare-scores results/old results/new --errata starter
    """
    rules = load(settings().rules / "scores.yaml", ScoreRules)
    try:
        one, other = read_result(first), read_result(second)
    except (ResultError, OSError) as error:
        fail(error, BAD_USAGE)
    withdrawn = read_errata(Snapshot(find_snapshot(errata))) if errata else {}
    comparison = compare_results(one, other, k, rules.resamples, withdrawn)
    if json:
        print_json(asdict(comparison))
    else:
        _show(comparison, k)
        if errata is None and "snapshot" in comparison.conditions:
            notify("the snapshots differ: --errata NAME leaves out tasks that the newer one took back")
    raise typer.Exit(0 if comparison.differences else PROBLEM)


def _show(comparison: ScoreComparison, k: int) -> None:
    alone = f"{comparison.first_alone} only in the first, {comparison.second_alone} only in the second"
    out.print(f"{comparison.common} common tasks; {alone}", markup=False)
    head = (f"metric@{k}", "tasks", "first", "second", "second - first", "95%", "better", "p")
    for family in dict.fromkeys(difference.family for difference in comparison.differences):
        of_family = [difference for difference in comparison.differences if difference.family is family]
        print_table(family.replace("_", " "), head, [_line(difference) for difference in of_family])
    if comparison.differences:
        notify(
            "better: tasks on which only the first, and only the second is better. p is not corrected for their number:"
        )
        notify("exact McNemar test where each task is right or wrong, else a permutation test")
    else:
        notify(f"no common task has a metric and {k} samples in both")
    if comparison.conditions:
        rows = [(name, *values) for name, values in comparison.conditions.items()]
        print_table("conditions that differ", ("condition", "first", "second"), rows)
    if comparison.prompts_differ:
        notify(f"{comparison.prompts_differ} common tasks have other prompts, or prompts that only one file names")
    if comparison.withdrawn:
        print_table("left out, with an erratum", ("task", "erratum"), [*comparison.withdrawn.items()])


def _line(difference: Difference) -> tuple[object, ...]:
    return (
        difference.metric.meaning.partition(":")[0].replace("@k", ""),
        difference.tasks,
        f"{difference.first:.3f}",
        f"{difference.second:.3f}",
        f"{difference.difference:+.3f}",
        f"{difference.low:+.3f} to {difference.high:+.3f}",
        f"{difference.first_only}, {difference.second_only}",
        f"{difference.p:.4f}",
    )
