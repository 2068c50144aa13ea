"""Where programs run that pytest tests: the environments of releases with pytest beside them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from packaging.version import Version

from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import EnvironmentOutcome
from pipeline.execution.environments.resolution.failures import IndexUnreachable
from pipeline.execution.environments.resolution.request import request_of
from pipeline.execution.validation.stage import Runner
from pipeline.families.problems.running import Place
from pipeline.lake.guard import attempt, guarded, parted
from pipeline.lake.place import at_release
from pipeline.lake.rows import EnvironmentRow, ReleaseRow
from pipeline.lake.stage import Reject

TOOLS = ("pytest",)
"""What the tests need beside the library."""


def environments_with_tests(
    releases: Iterable[ReleaseRow], versions: Collection[str], runner: Runner
) -> tuple[list[EnvironmentRow], list[Reject]]:
    """Build the environments of versions, some at a time, and say where the index did not answer."""
    chosen = sorted((row for row in releases if row["version"] in versions), key=lambda row: Version(row["version"]))
    with ThreadPoolExecutor(runner.store.workers) as pool:
        return parted(list(pool.map(lambda row: attempt(row["version"], _built, row, runner), chosen)))


def places_of(rows: Iterable[EnvironmentRow], runner: Runner) -> tuple[dict[str, Place], list[Reject]]:
    """Return the environments that were built, by version, and those that cannot be opened again."""
    built = [row for row in rows if row["outcome"] == EnvironmentOutcome.BUILT]
    opened, failed = parted(guarded(built, lambda row: str(row["version"]), lambda row: [_opened(row, runner)]))
    return {place.row["version"]: place for place in opened}, failed


def _opened(row: EnvironmentRow, runner: Runner) -> Place:
    with at_release(row["version"]):
        return Place(row, runner.store.open(row))


def _built(release: ReleaseRow, runner: Runner) -> EnvironmentRow | Reject:
    try:
        with at_release(release["version"]):
            return runner.store.build(replace(request_of(release), tools=TOOLS))
    except IndexUnreachable as error:
        return Reject(release["version"], RejectReason.INDEX_UNREACHABLE, str(error))
