"""`driftline survive`: run published rows again in their locked environments."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from pipeline.audit.survival.rules import survival_rules
from pipeline.audit.survival.survive import (
    Survey,
    SurveyResult,
    libraries_of,
    newest_snapshots,
    rows_of_survey,
    survive,
    this_period,
)
from pipeline.cli.options import Json
from pipeline.cli.output import BAD_USAGE, PROBLEM, fail, notify, out, print_json, print_table, progress
from pipeline.cli.snapshots import find_snapshot
from pipeline.core.settings import settings
from pipeline.lake.rows import SurvivalRow
from pipeline.snapshots.format.manifest import SnapshotError
from pipeline.snapshots.format.survival_figures import SurvivalFigure, survival_figures

Subject = Annotated[
    str,
    typer.Argument(
        metavar="SNAPSHOT",
        help="Folder of a snapshot, or the name of a profile for its newest ones.",
        show_default=False,
    ),
]


def survive_snapshots(
    snapshot: Subject,
    libraries: Annotated[str | None, typer.Option(help="Only these.", metavar="A,B")] = None,
    share: Annotated[
        float | None, typer.Option(min=0, max=1, help="Share of environments to make again; default: survival.yaml.")
    ] = None,
    json: Json = False,
) -> None:
    """Run published references again in their locked environments, and report passes and reasons of losses.

    Rows are added to the lake by month: references with a row of this month do not run again. Ends with status 0 if all
    pass, 1 if not, or if some have no verdict, 2 for bad usage.

    Example: driftline survive starter --share 0.1
    """
    survey = _survey(snapshot, share)
    try:
        requested = _requested_libraries(libraries, libraries_of(survey.snapshots))
        with progress("survival") as report:
            results = [survive(survey, library, report) for library in requested]
    except SnapshotError as error:
        fail(error, BAD_USAGE)
    rows = rows_of_survey(survey, requested)
    if json:
        print_json(as_json(survey, results, rows))
    else:
        _print(results, rows)
    unread = dict.fromkeys(why for result in results for why in result.unread)
    if unread and not rows:
        fail("\n".join(unread), BAD_USAGE)
    for why in unread:
        notify(f"not looked at: {why}")
    if unread or not all(row["survives"] for row in rows) or any(result.unjudged for result in results):
        raise typer.Exit(PROBLEM)


def _survey(snapshot: str, share: float | None) -> Survey:
    current, rules = settings(), survival_rules()
    if share is not None:
        rules = rules.model_copy(update={"share": share})
    several = () if Path(snapshot).is_dir() else newest_snapshots(current.snapshots, snapshot, rules.snapshots)
    return Survey(several or (find_snapshot(snapshot),), this_period(), current, rules)


def _requested_libraries(libraries: str | None, there: list[str]) -> list[str]:
    if libraries is None:
        return there
    requested = [name.strip() for name in libraries.split(",") if name.strip()]
    if unknown := sorted(set(requested) - set(there)):
        listed = ", ".join(there[:20]) + (" …" if len(there) > 20 else "")
        fail(f"--libraries {','.join(unknown)}: not in the snapshot, which has {listed}", BAD_USAGE)
    return requested


def as_json(survey: Survey, results: list[SurveyResult], rows: list[SurvivalRow]) -> dict[str, Any]:
    """Return the results as JSON."""
    return {
        "period": survey.period,
        "snapshots": [
            {
                "snapshot": figure.snapshot,
                "rows": figure.rows,
                "survived": figure.survived,
                "share": round(figure.share, 4),
                "lost": figure.lost,
            }
            for figure in survival_figures(rows)
        ],
        "added": sum(len(result.added) for result in results),
        "known": sum(result.existing for result in results),
        "unread": sorted({why for result in results for why in result.unread}),
        "left": {result.library: result.unjudged for result in results if result.unjudged},
        "lost": [row for row in rows if not row["survives"]],
    }


def _print(results: list[SurveyResult], rows: list[SurvivalRow]) -> None:
    for figure in survival_figures(rows):
        _print_figure(figure, [row for row in rows if row["snapshot"] == figure.snapshot])
    added, existing = sum(len(result.added) for result in results), sum(result.existing for result in results)
    notify(f"{added:,} rows added; {existing:,} rows of this month existed and did not run again")
    for result in results:
        for why, number in result.unjudged.items():
            notify(f"{result.library}: {number} rows could not be judged and are tried again by the next call: {why}")


def _print_figure(figure: SurvivalFigure, rows: list[SurvivalRow]) -> None:
    families = dict.fromkeys(row["family"] for row in rows)
    lines = [_line(family, [row for row in rows if row["family"] == family]) for family in families]
    title = f"{figure.snapshot} in {figure.period}: {figure.survived:,} of {figure.rows:,} still pass"
    print_table(title, ("family", "rows", "still pass", "share", "why not"), lines)
    withdrawn = sorted({pin for row in rows for pin in row["yanked"]})
    if withdrawn:
        out.print(f"withdrawn since, but still installed by their exact pins: {', '.join(withdrawn)}", markup=False)


def _line(family: str, rows: list[SurvivalRow]) -> tuple[object, ...]:
    [figure] = survival_figures([row | {"snapshot": family} for row in rows])
    return family, f"{figure.rows:,}", f"{figure.survived:,}", figure.percent, figure.why
