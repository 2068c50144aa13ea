"""The runs that prove a problem: its reference and the code of the other version, in environments with pytest."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from packaging.version import Version

from pipeline.core.vocabularies.problems import OTHER_CODE, ProblemRun
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import EnvironmentOutcome, Outcome
from pipeline.execution.environments.resolution.failures import IndexUnreachable
from pipeline.execution.environments.resolution.request import request_of
from pipeline.execution.mutation.score import MutationScore
from pipeline.execution.sandbox.environment import Environment
from pipeline.execution.validation.cases import Case, Result
from pipeline.execution.validation.running import run_cases
from pipeline.execution.validation.stage import Runner
from pipeline.lake.guard import attempt, guarded, parted
from pipeline.lake.ids import content_id
from pipeline.lake.place import at_release
from pipeline.lake.rows import EnvironmentRow, FunctionRunRow, ProblemRunRow, ReleaseRow
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
    """What stands for the solution in the other version, and in which role it runs here.

    `program` is the whole of it there, since the starting code may import what that version lacks.
    """

    role: ProblemRun
    code: str
    program: str


@dataclass(frozen=True, slots=True)
class Tested:
    """A problem with its tests, as it is to be run; the program is `starting_code` + `solution`.

    `any_api` are the hidden tests as they are where any API of the library will do: the other version has another one.
    """

    id: str
    version: str
    other_version: str | None
    starting_code: str
    solution: str
    visible: str
    hidden: str
    any_api: str
    module: str
    other: OtherCode | None


@dataclass(frozen=True, slots=True)
class _Run:
    """One run of a problem; `code` is what runs in place of the solution, None where it is the solution."""

    tested: Tested
    role: ProblemRun
    code: str | None = None

    @property
    def tests(self) -> str:
        """The hidden tests, or those for which any API will do."""
        any_api = self.role in (ProblemRun.OTHER_THERE, ProblemRun.OTHER_ANY_API)
        return self.tested.any_api if any_api else self.tested.hidden

    @property
    def program(self) -> str:
        """The whole program."""
        tested = self.tested
        if self.role is ProblemRun.OTHER_THERE and tested.other is not None:
            return tested.other.program
        return tested.starting_code + (tested.solution if self.code is None else self.code)

    def case(self, place: OpenEnvironment) -> Case:
        tested, names = self.tested, place.row["import_names"]
        key = f"{tested.id} {self.role}"
        if self.role is ProblemRun.VISIBLE:
            return Case(key, "", self.program, import_names=names, test=tested.visible)
        cover = self.role is ProblemRun.HIDDEN
        return Case(key, "", self.program, import_names=names, test_file=self.tests, module=tested.module, cover=cover)


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
            row = problem_run_row(request.tested.id, request.role, place.row, result, request.code)
            runs[request.tested.id].append(row)
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
        if tested.any_api != tested.hidden:
            yield tested.version, _Run(tested, ProblemRun.OTHER_ANY_API, other.code)


def problem_run_row(
    problem_id: str, role: ProblemRun, environment: EnvironmentRow, result: Result, code: str | None = None
) -> ProblemRunRow:
    """Return a row of `problem_runs`; `code` is what ran in place of the solution."""
    covered = result.coverage
    return {
        "id": content_id(problem_id, role, environment["version"], environment["lock_id"]),
        "problem_id": problem_id,
        "library": environment["library"],
        "version": environment["version"],
        "role": role,
        "code": code,
        "outcome": result.outcome,
        "python": environment["python"] or "",
        "lock_id": environment["lock_id"] or "",
        "detail": result.detail,
        "statements": covered.statements if covered else None,
        "executed": len(covered.executed) if covered else None,
        "duration_s": round(result.duration_s, 4),
    }


def with_other_code(
    score: MutationScore, runs: Iterable[ProblemRunRow | FunctionRunRow], fails: Collection[Outcome]
) -> MutationScore:
    """Return a score that counts the code for the other version too, where that passes there; `runs` are of one row.

    A test that only wants another API called does not kill it.
    """
    outcomes = {run["role"]: run["outcome"] for run in runs}
    here = next((outcomes[role] for role in (ProblemRun.OTHER_ANY_API, *OTHER_CODE) if role in outcomes), None)
    is_right_there = outcomes.get(ProblemRun.OTHER_THERE) == Outcome.PASSED
    return score.with_other_code(here, fails) if is_right_there and here is not None else score


@dataclass(frozen=True, slots=True)
class Reference:
    """The reference of a row, which passed its tests in its own release."""

    id: str
    version: str
    program: str
    module: str
    test_file: str
    test: str | None = None

    def case(self, place: OpenEnvironment) -> Case:
        """Return the run of all its tests, split where they can be: that costs a seventh of pytest beside it."""
        return Case(
            self.id,
            "",
            self.program,
            import_names=place.row["import_names"],
            test=self.test,
            test_file=self.test_file,
            module=self.module,
            apart=True,
        )


@dataclass(slots=True)
class OtherReleases:
    """Runs of references in releases other than their own, by the id of the row; further environments, and notes."""

    runs: list[tuple[str, EnvironmentRow, Result]] = field(default_factory=list)
    environments: list[EnvironmentRow] = field(default_factory=list)
    notes: list[Reject] = field(default_factory=list)


def run_in_other_releases(
    references: Sequence[Reference],
    releases: Sequence[ReleaseRow],
    environments: Iterable[EnvironmentRow],
    places: Mapping[str, OpenEnvironment],
    runner: Runner,
) -> OtherReleases:
    """Run references once through each release that is not their own and has an environment.

    `environments` were tried before, and those that were built are in `places`; the others are built here.
    Notes: INDEX_UNREACHABLE by version, and versions whose environments cannot be opened, or run nothing.
    """
    if not references:
        return OtherReleases()
    further = {row["version"] for row in releases} - {row["version"] for row in environments}
    rows, unreachable = environments_with_tests(releases, further, runner)
    opened, closed = places_of(rows, runner)
    output = OtherReleases(environments=rows, notes=[*unreachable, *closed])
    for version, place in sorted({**places, **opened}.items()):
        group = [each for each in references if each.version != version]
        with at_release(version):
            results = attempt(version, _run_references, group, place, runner)
        if isinstance(results, Reject):
            output.notes.append(results)
        else:
            output.runs += [(each.id, place.row, result) for each, result in zip(group, results, strict=True)]
    return output


def _run_references(references: Sequence[Reference], place: OpenEnvironment, runner: Runner) -> list[Result]:
    cases = [each.case(place) for each in references]
    how = runner.sandbox, runner.rules, runner.workers
    return run_cases(place.environment, cases, *how, memory=runner.memory)


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
