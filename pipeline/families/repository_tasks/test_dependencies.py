"""What the tests of a project ask for beside the project itself, as its own files state it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from posixpath import dirname

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from pipeline.corpus.pins.read import is_pin_file, read_pins
from pipeline.corpus.pins.scopes import SHELVES
from pipeline.corpus.pins.statements import PYTHON, Statement, StatementKind
from pipeline.families.repository_tasks.rules import RepositoryRules
from pipeline.families.repository_tasks.tree import Tree

PYTEST = "pytest"


@dataclass(frozen=True, slots=True)
class Requirements:
    """Requirements (PEP 508), and where they are stated: a file of the project and the group in it."""

    requirements: tuple[str, ...]
    places: tuple[str, ...]

    def attempts(self) -> Iterator[tuple[str, ...]]:
        """Yield what to install beside the project, the most faithful first: as stated, by name alone, pytest alone."""
        visited = set()
        bare = tuple(sorted({Requirement(line).name for line in self.requirements}))
        for lines in (self.requirements, bare, (PYTEST,)):
            if lines not in visited:
                visited.add(lines)
                yield lines


def requirements_of_tests(tree: Tree, project: str, rules: RepositoryRules) -> Requirements:
    """Return what a project states for its tests, and pytest where it does not say so itself.

    Of several statements about one distribution an exact pin counts, then a range; of several groups those that
    are named for tests, and others only where there are none. The group of a folder aside, or of a part of the tree,
    does not count: `examples/tutorial` is another project.
    """
    pins = {path: content for path, content in tree.files.items() if is_pin_file(path) and _is_of_project(path, rules)}
    ranked: dict[int, list[Statement]] = {0: [], 1: []}
    for statement in read_pins(pins).statements:
        rank = rules.rank(statement.group, statement.file)
        if rank is not None:
            ranked[rank].append(statement)
    usable = [statement for statement in ranked[0] or ranked[1] if _is_usable(statement, project, rules)]
    chosen: dict[str, Statement] = {}
    for statement in sorted(usable, key=lambda each: each.kind is not StatementKind.EXACT_PIN):
        chosen.setdefault(canonicalize_name(statement.library), statement)
    lines = {name: _line(statement) for name, statement in chosen.items()}
    if ";" in lines.get(PYTEST, ""):
        # It is stated for some Pythons only; the tests need it on each.
        lines[PYTEST] = PYTEST
    places = {f"{statement.file}{f' [{statement.group}]' if statement.group else ''}" for statement in chosen.values()}
    return Requirements(tuple(sorted({PYTEST: PYTEST, **lines}.values())), tuple(sorted(places)))


def _is_of_project(path: str, rules: RepositoryRules) -> bool:
    folders = [part for part in dirname(path).split("/") if part]
    allowed = SHELVES | rules.test_folders
    return all(part in allowed or part.endswith(".egg-info") for part in folders)


def _is_usable(statement: Statement, project: str, rules: RepositoryRules) -> bool:
    if statement.kind not in (StatementKind.EXACT_PIN, StatementKind.RANGE) or statement.library == PYTHON:
        return False
    if canonicalize_name(statement.library) == project or not rules.is_needed(statement.library):
        return False
    try:
        Requirement(_line(statement))
    except InvalidRequirement:
        return False
    return "||" not in statement.specifier


def _line(statement: Statement) -> str:
    """Return a statement as a requirement; a marker that asks for an extra is met by asking for its group."""
    marker = f"; {statement.marker}" if statement.marker and "extra" not in statement.marker else ""
    return f"{statement.library}{statement.specifier}{marker}"
