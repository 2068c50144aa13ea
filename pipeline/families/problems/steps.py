"""The statements of an example in order, with what each binds and needs, and whether it has to do with the library."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from pipeline.corpus.snippets.names import bound_by, needed_by, needed_later_by, parse
from pipeline.lake.rows import RewriteRow, SnippetCheck, SnippetRow

_DEFINITIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True, slots=True)
class Step:
    """A statement with the output that is stated for it, if any.

    `of_library`: it imports the library, or uses a name that came from it.
    """

    node: ast.stmt
    expected: str | None
    options: frozenset[str]
    binds: frozenset[str]
    needs: frozenset[str]
    of_library: bool

    @property
    def is_import(self) -> bool:
        """Whether it imports something."""
        return isinstance(self.node, ast.Import | ast.ImportFrom)

    @property
    def is_definition(self) -> bool:
        """Whether it defines a function or a class."""
        return isinstance(self.node, _DEFINITIONS)


@dataclass(frozen=True, slots=True)
class Program:
    """The steps of an example, and the names that have to do with the library once it has run."""

    steps: tuple[Step, ...]
    of_library: frozenset[str]

    def binder(self, name: str, before: int) -> int | None:
        """Return the last step before a position that binds a name, or None."""
        return next((i for i in reversed(range(before)) if name in self.steps[i].binds), None)


def program_of(snippet: SnippetRow | RewriteRow, roots: Collection[str]) -> Program:
    """Read the steps of a snippet: its preamble, then its code; `roots` are the modules of the library.

    A name that is bound twice, once with and once without the library, counts as the library's from then on. A
    snippet whose statements do not parse has no steps.
    """
    steps: list[Step] = []
    foreign: set[str] = set()
    for node, expected, options in _statements(snippet):
        binds, needs = frozenset(bound_by(node)), frozenset(needed_by(node) | needed_later_by(node))
        of_library = _imports(node, roots) or bool(needs & foreign)
        foreign |= binds if of_library else set()
        steps.append(Step(node, expected, frozenset(options), binds, needs, of_library))
    return Program(tuple(steps), frozenset(foreign))


def _statements(snippet: SnippetRow | RewriteRow) -> Iterator[tuple[ast.stmt, str | None, Sequence[str]]]:
    for node in parse(snippet["preamble"]) or ():
        yield node, None, ()
    for check in snippet["checks"] or _as_checks(snippet["code"]):
        nodes = parse(check["statement"]) or []
        for node in nodes:
            yield node, check["expected"] if node is nodes[-1] else None, check["options"]


def _as_checks(code: str) -> list[SnippetCheck]:
    """Return the statements of a program without stated outputs, as if each stood at a prompt."""
    return [{"statement": ast.unparse(node), "expected": None, "options": []} for node in parse(code) or ()]


def _imports(node: ast.stmt, roots: Collection[str]) -> bool:
    if isinstance(node, ast.Import):
        return any(alias.name.split(".")[0] in roots for alias in node.names)
    return isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in roots
