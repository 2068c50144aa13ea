"""`driftline survive`: what was published, run again in its locked environments."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from pipeline.audit.survival.rules import survival_rules
from pipeline.audit.survival.survive import (
    Looked,
    Survey,
    libraries_of,
    newest_snapshots,
    rows_of_survey,
    survive,
    this_period,
)
from pipeline.cli.options import Json
from pipeline.cli.output import BAD_USAGE, PROBLEM, fail, out, print_json, print_table, progress, say
from pipeline.cli.snapshots import find_snapshot
from pipeline.core.settings import settings
from pipeline.lake.rows import SurvivalRow
from pipeline.snapshots.format.manifest import SnapshotError
from pipeline.snapshots.format.survival_figures import SurvivalFigure, survival_figures

What = Annotated[
    str,
    typer.Argument(
        metavar="SNAPSHOT",
        help="Folder of a snapshot, or the name of a profile for its newest ones.",
        show_default=False,
    ),
]


def survive_snapshots(
    snapshot: What,
    libraries: Annotated[str | None, typer.Option(help="Only these.", metavar="A,B")] = None,
    share: Annotated[
        float | None, typer.Option(min=0, max=1, help="Share of environments to make again; default: survival.yaml.")
    ] = None,
    json: Json = False,
) -> None:
    """Run published references again in their locked environments, and tell which still pass and why others do not.

    Rows are added to the lake by month: what this month has a row of is not run again. Ends with status 0 if all of
    them pass, 1 if not, or if some could not be judged, 2 for bad usage.

    Example: driftline survive starter --share 0.1
    """
    survey = _survey(snapshot, share)
    try:
        asked = _asked(libraries, libraries_of(survey.snapshots))
        with progress("survival") as tell:
            looked = [survive(survey, library, tell) for library in asked]
    except SnapshotError as error:
        fail(str(error), BAD_USAGE)
    rows = rows_of_survey(survey, asked)
    if json:
        print_json(as_json(survey, looked, rows))
    else:
        _print(looked, rows)
    unread = dict.fromkeys(why for one in looked for why in one.unread)
    if unread and not rows:
        fail("\n".join(unread), BAD_USAGE)
    for why in unread:
        say(f"not looked at: {why}")
    if unread or not all(row["survives"] for row in rows) or any(one.left for one in looked):
        raise typer.Exit(PROBLEM)


def _survey(snapshot: str, share: float | None) -> Survey:
    current, rules = settings(), survival_rules()
    if share is not None:
        rules = rules.model_copy(update={"share": share})
    several = () if Path(snapshot).is_dir() else newest_snapshots(current.snapshots, snapshot, rules.snapshots)
    return Survey(several or (find_snapshot(snapshot),), this_period(), current, rules)


def _asked(libraries: str | None, there: list[str]) -> list[str]:
    if libraries is None:
        return there
    asked = [name.strip() for name in libraries.split(",") if name.strip()]
    if unknown := sorted(set(asked) - set(there)):
        known = ", ".join(there[:20]) + (" …" if len(there) > 20 else "")
        fail(f"--libraries {','.join(unknown)}: not in the snapshot, which has {known}", BAD_USAGE)
    return asked


def as_json(survey: Survey, looked: list[Looked], rows: list[SurvivalRow]) -> dict[str, Any]:
    """Return what came out for a program to read."""
    return {
        "period": survey.period,
        "snapshots": [
            {
                "snapshot": one.snapshot,
                "rows": one.rows,
                "survived": one.survived,
                "share": round(one.share, 4),
                "lost": one.lost,
            }
            for one in survival_figures(rows)
        ],
        "added": sum(len(one.added) for one in looked),
        "known": sum(one.known for one in looked),
        "unread": sorted({why for one in looked for why in one.unread}),
        "left": {one.library: one.left for one in looked if one.left},
        "lost": [row for row in rows if not row["survives"]],
    }


def _print(looked: list[Looked], rows: list[SurvivalRow]) -> None:
    for standing in survival_figures(rows):
        _print_standing(standing, [row for row in rows if row["snapshot"] == standing.snapshot])
    added, known = sum(len(one.added) for one in looked), sum(one.known for one in looked)
    say(f"{added:,} rows added; {known:,} were known of this month and not run again")
    for one in looked:
        for why, number in one.left.items():
            say(f"{one.library}: {number} rows could not be judged and are tried again by the next call: {why}")


def _print_standing(standing: SurvivalFigure, rows: list[SurvivalRow]) -> None:
    families = dict.fromkeys(row["family"] for row in rows)
    lines = [_line(family, [row for row in rows if row["family"] == family]) for family in families]
    title = f"{standing.snapshot} in {standing.period}: {standing.survived:,} of {standing.rows:,} still pass"
    print_table(title, ("family", "rows", "still pass", "share", "why not"), lines)
    withdrawn = sorted({pin for row in rows for pin in row["yanked"]})
    if withdrawn:
        out.print(f"withdrawn since, but still installed by their exact pins: {', '.join(withdrawn)}", markup=False)


def _line(family: str, rows: list[SurvivalRow]) -> tuple[object, ...]:
    [standing] = survival_figures([row | {"snapshot": family} for row in rows])
    return family, f"{standing.rows:,}", f"{standing.survived:,}", standing.percent, standing.why
