"""APIs that are right in the place of the one that a program calls: other public names beside it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import Outcome
from pipeline.execution.mutation.rules import MutationRules
from pipeline.execution.mutation.running import hurried
from pipeline.execution.validation.cases import Case
from pipeline.execution.validation.running import run_cases
from pipeline.execution.validation.stage import Runner
from pipeline.families.completions_and_migrations.other_answers import calls_of, namesakes, neighbours
from pipeline.families.problems.library import Library
from pipeline.families.problems.program import ProblemProgram
from pipeline.families.problems.running import OpenEnvironment
from pipeline.lake.guard import guarded, parted
from pipeline.lake.ids import content_id
from pipeline.lake.stage import Reject


@dataclass(frozen=True, slots=True)
class SiblingProgram:
    """A program of a version in which siblings of its API are to be tried.

    `value` is what its `visible` test states; `tests` are a pytest module of values, which imports it as `module`.
    """

    id: str
    version: str
    other_version: str | None
    path: str
    written: ProblemProgram
    value: str | None
    visible: str
    tests: str
    module: str


@dataclass(frozen=True, slots=True)
class Siblings:
    """The paths that pass the tests of a program in the place of its API, and those that do in the other version."""

    program: SiblingProgram
    paths: frozenset[str]
    older: frozenset[str]

    def answers(self, *, without_older: bool) -> tuple[str, ...] | Reject:
        """Return the paths of siblings that are right too, `without_older`: where those are excluded by the task.

        Right too is one whose name has all words of the API's, or the reverse: such are `windowed` and `windowed_iter`.
        Rejects: SEVERAL_ANSWERS where one of quite another name passes, or one that passes in the other version too.
        """
        own = self.program.path
        paths = self.paths - self.older if without_older else self.paths
        if unfit := sorted(path for path in paths if path in self.older or not _is_like(path, own)):
            detail = f"{self.program.version}: {', '.join(unfit)} in the place of {own} passes the tests of values"
            return Reject(self.program.id, RejectReason.SEVERAL_ANSWERS, detail)
        return tuple(sorted(paths))


def find_siblings(
    programs: Iterable[SiblingProgram],
    library: Library,
    places: Mapping[str, OpenEnvironment],
    runner: Runner,
    mutation: MutationRules,
) -> dict[str, Siblings | Reject]:
    """Run programs with other APIs in the place of theirs; return those that pass, by the program's id.

    Siblings are public names beside the API, and others of its name in other modules, whose signatures take its calls.
    They are tried as they are, and those of like names also as a list of what they yield.
    """
    programs = list(programs)
    variants, broken = parted(
        guarded(programs, lambda program: program.id, lambda program: _variants(program, library, mutation.other_names))
    )
    passing = _passing([(each, places.get(each.program.version)) for each in variants], runner, mutation)
    elsewhere = _passing([(each, places.get(each.program.other_version or "")) for each in passing], runner, mutation)
    found: dict[str, Siblings | Reject] = {
        program.id: Siblings(
            program,
            frozenset(each.path for each in passing if each.program.id == program.id),
            frozenset(each.path for each in elsewhere if each.program.id == program.id),
        )
        for program in programs
    }
    return found | {reject.key: reject for reject in broken}


@dataclass(frozen=True, slots=True)
class _Variant:
    """The text of a program with a sibling, by its path, in the place of its API."""

    program: SiblingProgram
    path: str
    text: str

    def case(self, place: OpenEnvironment, *, is_visible: bool) -> Case:
        """Return the run of the visible test, or of all."""
        program, names = self.program, place.row["import_names"]
        key = content_id(program.id, self.text)
        if is_visible:
            return Case(key, "", self.text, import_names=names, test=program.visible)
        return Case(key, "", self.text, import_names=names, test_file=program.tests, module=program.module)


def _is_like(path: str, other: str) -> bool:
    one, two = (set(each.rpartition(".")[2].split("_")) for each in (path, other))
    return one <= two or two <= one


def _variants(program: SiblingProgram, library: Library, most: int) -> Iterator[_Variant]:
    written, symbols = program.written, library.api(program.version).symbols
    place, _, own = program.path.rpartition(".")
    calls = calls_of(ast.parse(written.program), own)
    wrapper = type(ast.literal_eval(program.value)).__name__ if program.value else ""
    for name in neighbours(program.path, calls, symbols, most):
        text = written.starting_code + re.sub(rf"\b{re.escape(own)}\b", name, written.solution)
        path = f"{place}.{name}"
        yield _Variant(program, path, text)
        # A list of all that some other name yields may never end.
        if wrapper in ("list", "tuple", "set") and _is_like(path, program.path):
            yield _Variant(program, path, _wrapped(text, name, wrapper))
    for path in namesakes(program.path, calls, symbols):
        moved = re.sub(rf"(?<![\w.]){re.escape(place)}\b", path.rpartition(".")[0], written.solution)
        if moved != written.solution:
            yield _Variant(program, path, written.starting_code + moved)


def _wrapped(program: str, name: str, wrapper: str) -> str:
    """Return a program in which what calls of a name give is made a list, say."""
    tree = ast.parse(program)
    calls = calls_of(tree, name)

    class Wrapped(ast.NodeTransformer):
        def visit_Call(self, node: ast.Call) -> ast.Call:
            self.generic_visit(node)
            return ast.Call(ast.Name(wrapper), [node], []) if node in calls else node

    return ast.unparse(Wrapped().visit(tree))


def _passing(
    variants: Iterable[tuple[_Variant, OpenEnvironment | None]], runner: Runner, mutation: MutationRules
) -> list[_Variant]:
    """Return the variants that pass the visible test of their program in a place, and all others."""
    by_place: dict[str, tuple[OpenEnvironment, list[_Variant]]] = {}
    for each, place in variants:
        if place is not None:
            by_place.setdefault(place.row["version"], (place, []))[1].append(each)
    passing: list[_Variant] = []
    for place, group in by_place.values():
        # What never ends is out after the first; the second is as patient as with a reference, on a slow machine too.
        for is_visible, time_s in ((True, mutation.other_name_time_s), (False, runner.rules.time_s)):
            quick = hurried(runner, mutation.model_copy(update={"time_s": time_s}))
            cases = [each.case(place, is_visible=is_visible) for each in group]
            how = quick.sandbox, quick.rules, quick.workers
            results = run_cases(place.environment, cases, *how, memory=quick.memory)
            group = [each for each, result in zip(group, results, strict=True) if result.outcome is Outcome.PASSED]
        passing += group
    return passing
