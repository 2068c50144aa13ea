"""Where programs run that pytest tests: the environments of releases with pytest beside them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TypeVar

from packaging.version import Version

from pipeline.environments import IndexUnreachable, wanted_of
from pipeline.lake import Reject, Row, at_release
from pipeline.problems.running import Place
from pipeline.terms import EnvironmentOutcome, RejectReason
from pipeline.validation import Runner

_Made = TypeVar("_Made")

TOOLS = ("pytest",)
"""What the tests need beside the library."""


def parted(results: Iterable[_Made | Reject]) -> tuple[list[_Made], list[Reject]]:
    """Part what was made from what was refused."""
    made: list[_Made] = []
    refused: list[Reject] = []
    for result in results:
        if isinstance(result, Reject):
            refused.append(result)
        else:
            made.append(result)
    return made, refused


def environments_with_tests(
    releases: Iterable[Row], versions: Collection[str], runner: Runner
) -> tuple[list[Row], list[Reject]]:
    """Build the environments of versions, some at a time, and say where the index did not answer."""
    chosen = sorted((row for row in releases if row["version"] in versions), key=lambda row: Version(row["version"]))
    with ThreadPoolExecutor(runner.store.workers) as pool:
        return parted(list(pool.map(lambda release: _built(release, runner), chosen)))


def places_of(rows: Iterable[Row], runner: Runner) -> dict[str, Place]:
    """Return the environments that were built, by version.

    Errors: those of `EnvironmentStore.open`.
    """
    return {row["version"]: _opened(row, runner) for row in rows if row["outcome"] == EnvironmentOutcome.BUILT}


def _opened(row: Row, runner: Runner) -> Place:
    with at_release(row["version"]):
        return Place(row, runner.store.open(row))


def _built(release: Row, runner: Runner) -> Row | Reject:
    try:
        with at_release(release["version"]):
            return runner.store.build(replace(wanted_of(release), tools=TOOLS))
    except IndexUnreachable as error:
        return Reject(release["version"], RejectReason.INDEX_UNREACHABLE, str(error))
