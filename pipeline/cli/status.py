"""`driftline status` and `driftline rerun`: what runs wait for, and their failures once more."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, NoReturn

import typer

from pipeline.cli.options import Json
from pipeline.cli.output import BAD_USAGE, fail, out, print_json, print_table
from pipeline.cli.refresh import collect, finish
from pipeline.core.settings import settings
from pipeline.core.vocabularies.runs import RunState, StageState
from pipeline.lake.run_records import recorded_runs
from pipeline.lake.tables import Lake
from pipeline.orchestration.publishing.publish_snapshot import last_refresh
from pipeline.orchestration.report.status import Status, libraries_to_repeat, run_status, status

Run = Annotated[
    str | None, typer.Argument(metavar="[RUN]", help="Name of a run. Default: the newest.", show_default=False)
]
Search = Annotated[str, typer.Option(help="Only stages whose line has this text.", metavar="TEXT")]
All = Annotated[bool, typer.Option("--all", help="List every stage of every library.")]
_PLACES = 3


def show_status(run: Run = None, search: Search = "", every: All = False, json: Json = False) -> None:
    """Show the last runs, what each waits for and what to do; of one run its stages, failures and estimated end.

    Stages that are done or unchanged are counted; --all lists them too.

    Example: driftline status --search flask
    """
    current = status(run)
    if current is None:
        _no_run(run)
    if json:
        print_json(current.as_json())
        return
    _print(current, search, every or bool(search))


def _no_run(run: str | None) -> NoReturn:
    names = [record.run for _, record in recorded_runs(settings().runs)]
    if not names:
        # a listing of a bucket that does not exist is empty
        Lake(settings().lake_root).delta("releases")
    hint = f"the last are {', '.join(names[-3:])}" if names else "there is none yet: `driftline refresh` makes one"
    fail(f"no run {run}; {hint}" if run else f"no run; {hint}", BAD_USAGE)


def _print(current: Status, search: str, every: bool) -> None:
    lines = [
        [each.run, each.profile, each.state, each.waits_for.partition("\n")[0], each.advice] for each in current.runs
    ]
    print_table("Runs, the newest first", ["run", "profile", "state", "waits for", "what to do"], lines)
    out.print()
    lines_of_stages = [
        [
            stage.library,
            stage.stage,
            stage.state,
            "" if stage.seconds is None else f"{stage.seconds:.1f}",
            "" if stage.rows is None else stage.rows,
            stage.change,
            stage.cause,
        ]
        for stage in current.stages
        if (every or stage.state not in _QUIET) and stage.has(search)
    ]
    counts = Counter(stage.state for stage in current.stages)
    numbers = ", ".join(f"{counts[state]} {state}" for state in StageState if counts[state])
    print_table(
        f"{current.run}: {numbers}",
        ["library", "stage", "state", "seconds", "rows", "change", "cause"],
        lines_of_stages,
    )
    if current.ends:
        out.print(f"\nestimated end: {current.ends}", markup=False)
    for cause in current.causes:
        places = ", ".join(cause.places[:_PLACES]) + (f" and {cause.number - _PLACES} more" * (cause.number > _PLACES))
        out.print(
            f"\n{cause.cause}: {cause.number} ({places})\n  {cause.example}\n  What to do: {cause.advice}", markup=False
        )


_QUIET = frozenset({StageState.DONE, StageState.UNCHANGED, StageState.WAITING, StageState.NOT_REACHED})


def rerun(run: Run = None, json: Json = False) -> None:
    """Run the failed libraries of a run again, in its period, and publish its snapshot.

    A killed run goes on where it was. For a run of Airflow, its page Driftline status has a button for that.

    Example: driftline rerun
    """
    current = [each for each in recorded_runs(settings().runs) if run in (None, each[1].run)]
    if not current:
        _no_run(run)
    folder, record = current[-1]
    if run_status(folder, record).state == RunState.RUNNING:
        fail(f"{record.run} goes on: see `driftline status`")
    libraries = libraries_to_repeat(folder, record)
    if not libraries:
        out.print(f"{record.run} has no failures: nothing was run.", markup=False)
        return
    request = last_refresh(record.profile, record.run)
    finish(request, collect(request, libraries), json)
