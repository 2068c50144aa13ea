"""The runs that prove a problem: its reference and the code of the other version, in environments with pytest."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import NamedTuple

from packaging.version import Version

from pipeline.core.vocabularies.problems import ProblemRun
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import EnvironmentOutcome
from pipeline.execution.environments.resolution.failures import IndexUnreachable
from pipeline.execution.environments.resolution.request import request_of
from pipeline.execution.sandbox.environment import Environment
from pipeline.execution.validation.cases import Case, Result
from pipeline.execution.validation.running import run_cases
from pipeline.execution.validation.stage import Runner
from pipeline.lake.guard import attempt, guarded, parted
from pipeline.lake.ids import content_id
from pipeline.lake.place import at_release
from pipeline.lake.rows import EnvironmentRow, ProblemRunRow, ReleaseRow
from pipeline.lake.stage import Reject


@dataclass(frozen=True, slots=True)
class OpenEnvironment:
    """An environment that problems are run in, with its row."""

    row: EnvironmentRow
    environment: Environment

    @property
    def roots(self) -> frozenset[str]:
        """The top-level modules of the library."""
        return frozenset(name.split(".")[0] for name in self.row["import_names"])


class OtherCode(NamedTuple):
    """What stands for the solution in the other version, and in which role it runs here."""

    role: ProblemRun
    code: str


@dataclass(frozen=True, slots=True)
class Tested:
    """A problem with its tests, as it is to be run; the program is `starting_code` + `solution`."""

    id: str
    version: str
    other_version: str | None
    starting_code: str
    solution: str
    visible: str
    hidden: str
    module: str
    other: OtherCode | None


@dataclass(frozen=True, slots=True)
class _Run:
    """One run of a problem; `code` is what runs in place of the solution, None where it is the solution."""

    tested: Tested
    role: ProblemRun
    code: str | None = None

    def case(self, place: OpenEnvironment) -> Case:
        tested, names = self.tested, place.row["import_names"]
        program = tested.starting_code + (tested.solution if self.code is None else self.code)
        key = f"{tested.id} {self.role}"
        if self.role is ProblemRun.VISIBLE:
            return Case(key, "", program, import_names=names, test=tested.visible)
        cover = self.role is ProblemRun.HIDDEN
        return Case(key, "", program, import_names=names, test_file=tested.hidden, module=tested.module, cover=cover)


def run_tested(
    problems: Iterable[Tested], places: Mapping[str, OpenEnvironment], runner: Runner
) -> dict[str, list[ProblemRunRow]]:
    """Run all that problems ask for, once through each environment; return the rows of the runs by problem."""
    by_version: dict[str, list[_Run]] = defaultdict(list)
    for tested in problems:
        for version, request in _runs_of(tested):
            by_version[version].append(request)
    runs: dict[str, list[ProblemRunRow]] = defaultdict(list)
    for version, group in sorted(by_version.items()):
        if version not in places:
            continue
        place = places[version]
        cases = [request.case(place) for request in group]
        how = runner.sandbox, runner.rules, runner.workers
        results = run_cases(place.environment, cases, *how, memory=runner.memory)
        for request, result in zip(group, results, strict=True):
            runs[request.tested.id].append(_row(request, place, result))
    return runs


def _runs_of(tested: Tested) -> Iterator[tuple[str, _Run]]:
    """Yield the runs of a problem with their versions: the reference here and there, and the other version's code."""
    other, elsewhere = tested.other, tested.other_version
    yield tested.version, _Run(tested, ProblemRun.VISIBLE)
    yield tested.version, _Run(tested, ProblemRun.HIDDEN)
    if elsewhere is not None:
        yield elsewhere, _Run(tested, ProblemRun.REFERENCE_ELSEWHERE)
    if elsewhere is not None and other is not None:
        yield tested.version, _Run(tested, other.role, other.code)
        yield elsewhere, _Run(tested, ProblemRun.OTHER_THERE, other.code)


def _row(request: _Run, place: OpenEnvironment, result: Result) -> ProblemRunRow:
    key, covered = request.tested.id, result.coverage
    return {
        "id": content_id(key, request.role, place.row["version"], place.row["lock_id"]),
        "problem_id": key,
        "library": place.row["library"],
        "version": place.row["version"],
        "role": request.role,
        "code": request.code,
        "outcome": result.outcome,
        "python": place.row["python"] or "",
        "lock_id": place.row["lock_id"] or "",
        "detail": result.detail,
        "statements": covered.statements if covered else None,
        "executed": len(covered.executed) if covered else None,
        "duration_s": round(result.duration_s, 4),
    }


TOOLS = ("pytest",)
"""What the tests need beside the library."""


def environments_with_tests(
    releases: Iterable[ReleaseRow], versions: Collection[str], runner: Runner
) -> tuple[list[EnvironmentRow], list[Reject]]:
    """Build the environments of versions, some at a time, and say where the index did not answer."""
    chosen = sorted((row for row in releases if row["version"] in versions), key=lambda row: Version(row["version"]))
    with ThreadPoolExecutor(runner.store.workers) as pool:
        return parted(list(pool.map(lambda row: attempt(row["version"], _built, row, runner), chosen)))


def places_of(rows: Iterable[EnvironmentRow], runner: Runner) -> tuple[dict[str, OpenEnvironment], list[Reject]]:
    """Return the environments that were built, by version, and those that cannot be opened again."""
    built = [row for row in rows if row["outcome"] == EnvironmentOutcome.BUILT]
    opened, failed = parted(guarded(built, lambda row: str(row["version"]), lambda row: [_opened(row, runner)]))
    return {place.row["version"]: place for place in opened}, failed


def _opened(row: EnvironmentRow, runner: Runner) -> OpenEnvironment:
    with at_release(row["version"]):
        return OpenEnvironment(row, runner.store.open(row))


def _built(release: ReleaseRow, runner: Runner) -> EnvironmentRow | Reject:
    try:
        with at_release(release["version"]):
            return runner.store.build(replace(request_of(release), tools=TOOLS))
    except IndexUnreachable as error:
        return Reject(release["version"], RejectReason.INDEX_UNREACHABLE, str(error))
