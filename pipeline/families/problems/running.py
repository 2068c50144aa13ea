"""The runs that prove a problem: its reference and the code of the other version, in pinned environments."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from pipeline.core.vocabularies.problems import ProblemRun
from pipeline.execution.sandbox.environment import Environment
from pipeline.execution.validation.cases import Case, Result
from pipeline.execution.validation.running import run_cases
from pipeline.execution.validation.stage import Runner
from pipeline.lake.ids import content_id
from pipeline.lake.rows import EnvironmentRow, ProblemRunRow


@dataclass(frozen=True, slots=True)
class Place:
    """An environment that problems are run in, with its row."""

    row: EnvironmentRow
    environment: Environment


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
class _Asked:
    """One run of a problem; `code` is what runs in place of the solution, None where it is the solution."""

    tested: Tested
    role: ProblemRun
    code: str | None = None

    def case(self, place: Place) -> Case:
        tested, names = self.tested, place.row["import_names"]
        program = tested.starting_code + (tested.solution if self.code is None else self.code)
        key = f"{tested.id} {self.role}"
        if self.role is ProblemRun.VISIBLE:
            return Case(key, "", program, import_names=names, test=tested.visible)
        cover = self.role is ProblemRun.HIDDEN
        return Case(key, "", program, import_names=names, test_file=tested.hidden, module=tested.module, cover=cover)


def run_tested(
    problems: Iterable[Tested], places: Mapping[str, Place], runner: Runner
) -> dict[str, list[ProblemRunRow]]:
    """Run all that problems ask for, once through each environment; return the rows of the runs by problem."""
    by_version: dict[str, list[_Asked]] = defaultdict(list)
    for tested in problems:
        for version, asked in _asked(tested):
            by_version[version].append(asked)
    runs: dict[str, list[ProblemRunRow]] = defaultdict(list)
    for version, group in sorted(by_version.items()):
        if version not in places:
            continue
        place = places[version]
        cases = [asked.case(place) for asked in group]
        how = runner.sandbox, runner.rules, runner.workers
        results = run_cases(place.environment, cases, *how, memory=runner.memory)
        for asked, result in zip(group, results, strict=True):
            runs[asked.tested.id].append(_row(asked, place, result))
    return runs


def _asked(tested: Tested) -> Iterator[tuple[str, _Asked]]:
    """Yield the runs of a problem with their versions: the reference here and there, and the other version's code."""
    other, elsewhere = tested.other, tested.other_version
    yield tested.version, _Asked(tested, ProblemRun.VISIBLE)
    yield tested.version, _Asked(tested, ProblemRun.HIDDEN)
    if elsewhere is not None:
        yield elsewhere, _Asked(tested, ProblemRun.REFERENCE_ELSEWHERE)
    if elsewhere is not None and other is not None:
        yield tested.version, _Asked(tested, other.role, other.code)
        yield elsewhere, _Asked(tested, ProblemRun.OTHER_THERE, other.code)


def _row(asked: _Asked, place: Place, result: Result) -> ProblemRunRow:
    key, covered = asked.tested.id, result.coverage
    return {
        "id": content_id(key, asked.role, place.row["version"], place.row["lock_id"]),
        "problem_id": key,
        "library": place.row["library"],
        "version": place.row["version"],
        "role": asked.role,
        "code": asked.code,
        "outcome": result.outcome,
        "python": place.row["python"] or "",
        "lock_id": place.row["lock_id"] or "",
        "detail": result.detail,
        "statements": covered.statements if covered else None,
        "executed": len(covered.executed) if covered else None,
        "duration_s": round(result.duration_s, 4),
    }
