"""What people decided since a refresh: taken into the pinned lake of its run, before that is published."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from pipeline.core.errors import CodedError
from pipeline.lake.run_records import now
from pipeline.lake.runner import Stage, is_done, run_stage, write_json
from pipeline.lake.tables import Lake
from pipeline.orchestration.failures import advice_on
from pipeline.orchestration.resources.resources import Resources
from pipeline.orchestration.stages.all_stages import stages_of

_STAGE, _TABLE = "decisions", "reviews"
_BEGUN = "rejudging"
"""Folder of marks, one for each library whose stages of acceptance have not all read its decisions yet."""


class NotJudged(CodedError, RuntimeError):
    """What people decided could not be taken in; the message says of which library, why, and what to do."""

    code = "decisions_not_applied"


def judge_again(resources: Resources, lake: Lake, libraries: Iterable[str], folder: Path) -> list[str]:
    """Take in what people decided since a lake was kept, as the next refresh would; return who has to wait for that.

    Only stages that read decisions, and those after them, run again. Libraries for which these have more to do (a
    stage failed, rules were changed since) stay as they are. Libraries without a pinned lake are left out.
    Broken off, it can be called again.

    Errors: NotJudged.
    """
    stages = stages_of(resources)
    after = [stages[name] for name in stages_after(_TABLE, stages)]
    crawled = [library for library in libraries if lake.files("releases", library)]
    return [library for library in crawled if not _judged(stages[_STAGE], after, library, lake, folder)]


def stages_after(table: str, stages: Mapping[str, Stage]) -> list[str]:
    """Return the stages that a table makes a difference to, in their order."""
    changed, affected = {table}, []
    for name, stage in stages.items():
        if changed.intersection(stage.reads):
            affected.append(name)
            changed.update(stage.writes)
    return affected


def _judged(decisions: Stage, after: Iterable[Stage], library: str, lake: Lake, folder: Path) -> bool:
    """Say whether all that was decided of a library counts now."""
    begun = folder / _BEGUN / library
    stage = decisions
    try:
        if not begun.is_file():
            decided = decisions.run(lake, library, None).by_table[_TABLE]
            if decided == lake.read(_TABLE, library):
                return True
            if not all(is_done(stage, library, lake) for stage in after):
                return False
            write_json(begun, {"at": now()})
        for stage in (decisions, *after):
            if not is_done(stage, library, lake):
                run_stage(stage, library, lake, folder / "counts")
    except Exception as error:
        message = f"what people decided of {library} could not be taken in, stage {stage.name}"
        raise NotJudged(f"{message}: {type(error).__name__}: {error}. What to do: {advice_on(error)}") from error
    begun.unlink()
    return True
