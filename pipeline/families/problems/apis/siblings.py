"""APIs that are right in the place of the one that a program calls: beside it, or of its name in other modules."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from pipeline.core.syntax_trees import literal_eval, parse_python
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import Outcome
from pipeline.execution.mutation.rules import MutationRules
from pipeline.execution.mutation.running import hurried
from pipeline.execution.validation.cases import Case
from pipeline.execution.validation.running import run_cases
from pipeline.execution.validation.stage import Runner
from pipeline.families.completions_and_migrations.other_answers import calls_of, namesakes, neighbours
from pipeline.families.problems.library import Library
from pipeline.families.problems.running import OpenEnvironment
from pipeline.lake.guard import guarded, parted
from pipeline.lake.ids import content_id
from pipeline.lake.stage import Reject


@dataclass(frozen=True, slots=True)
class SiblingProgram:
    """A program of a version in which siblings of its API are to be tried.

    `text` is the program, `value` what its `visible` test states. `tests` are a pytest module of values, which imports
    it as `module`.
    """

    id: str
    version: str
    other_version: str | None
    path: str
    text: str
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
    siblings: dict[str, Siblings | Reject] = {
        program.id: Siblings(
            program,
            frozenset(each.path for each in passing if each.program.id == program.id),
            frozenset(each.path for each in elsewhere if each.program.id == program.id),
        )
        for program in programs
    }
    return siblings | {reject.key: reject for reject in broken}


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
    api, text = library.api(program.version), program.text
    place, _, own = program.path.rpartition(".")
    calls = calls_of(parse_python(text), own)
    wrapper = type(literal_eval(program.value)).__name__ if program.value else ""
    beside = [f"{place}.{name}" for name in neighbours(program.path, calls, api.symbols, most)]
    for path in (*beside, *namesakes(program.path, calls, api.symbols)[:most]):
        # A list of all that some other name yields may never end.
        wrappers = (wrapper,) if wrapper in ("list", "tuple", "set") and _is_like(path, program.path) else ()
        for each in (None, *wrappers):
            exchange = _Exchange(program.path, path, each, is_member=api.is_class(place))
            if changed := exchange.applied_to(text):
                yield _Variant(program, path, changed)


_SIBLING = "_sibling"
"""The name of the other API in a program that uses the first as an attribute of a module."""


class _Exchange(ast.NodeTransformer):
    """Puts another API in the place of one, and what calls of it give in a list, say, if a `wrapper` is given.

    An API of a module is imported under the name that the program has for the first; of a member the name is exchanged.
    """

    def __init__(self, path: str, other: str, wrapper: str | None, *, is_member: bool) -> None:
        self._place, _, self._own = path.rpartition(".")
        self._other_place, _, self._other_name = other.rpartition(".")
        self._wrapper = wrapper
        self._is_member = is_member
        self._imported: dict[str, str] = {}
        self._uses: list[ast.expr] = []
        self._added: list[ast.stmt] = []

    def applied_to(self, program: str) -> str | None:
        """Return the program with the other API; None where it does not use the first one by its own name."""
        tree = parse_python(program)
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    self._imported[alias.asname or alias.name.partition(".")[0]] = (
                        alias.name if alias.asname else alias.name.partition(".")[0]
                    )
            elif isinstance(node, ast.ImportFrom) and not node.level:
                for alias in node.names:
                    self._imported[alias.asname or alias.name] = f"{node.module}.{alias.name}"
        body = self.visit(tree).body
        if not self._uses and not self._added:
            return None
        of_future = (isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in body)
        start = max((number for number, is_first in enumerate(of_future, 1) if is_first), default=0)
        return ast.unparse(ast.Module([*body[:start], *self._added, *body[start:]], []))

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.ImportFrom | None:
        """Take the API out of an import, and add one of the other under the same name."""
        if self._is_member or node.module != self._place or node.level:
            return node
        for alias in node.names:
            if alias.name == self._own:
                self._add(alias.asname or self._own)
        node.names = [alias for alias in node.names if alias.name != self._own]
        return node if node.names else None

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """Exchange the name of a member, or the API as an attribute of its module."""
        self.generic_visit(node)
        if node.attr != self._own:
            return node
        if self._is_member:
            node.attr = self._other_name
            self._uses.append(node)
            return node
        root, _, rest = ast.unparse(node.value).partition(".")
        if ".".join([self._imported.get(root, ""), *([rest] if rest else [])]) != self._place:
            return node
        self._add(_SIBLING)
        name = ast.Name(_SIBLING, ast.Load())
        self._uses.append(name)
        return name

    def visit_Call(self, node: ast.Call) -> ast.Call:
        """Wrap what the API gives."""
        is_imported = (
            isinstance(node.func, ast.Name) and self._imported.get(node.func.id) == f"{self._place}.{self._own}"
        )
        self.generic_visit(node)
        is_use = is_imported or any(node.func is each for each in self._uses)
        return ast.Call(ast.Name(self._wrapper), [node], []) if is_use and self._wrapper else node

    def _add(self, name: str) -> None:
        alias = ast.alias(self._other_name, name if name != self._other_name else None)
        statement = ast.ImportFrom(self._other_place, [alias], 0)
        if ast.unparse(statement) not in map(ast.unparse, self._added):
            self._added.append(statement)


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
