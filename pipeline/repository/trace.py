"""What traced runs say together: which tests pass, and what they execute of which function, the same on every repeat."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pipeline.repository.bindings import Bindings, Module, read_module
from pipeline.repository.functions import Function, Skipped, functions_of, module_name
from pipeline.repository.running import TestRun
from pipeline.repository.tree import Tree
from pipeline.terms import TestOutcome

Lines = frozenset[int]


@dataclass(frozen=True)
class SourceFile:
    """A file of a project: its text by lines, its module, and its functions in the order of their lines."""

    path: str
    text: str
    module: str
    functions: tuple[Function | Skipped, ...]

    def at(self, line: int) -> Function | Skipped | None:
        """Return the function in whose lines, decorators included, a line stands."""
        place = bisect_right([one.first_line for one in self.functions], line) - 1
        found = self.functions[place] if place >= 0 else None
        last = None if found is None else found.last_line if isinstance(found, Skipped) else found.body[1]
        return found if last is not None and line <= last else None


@dataclass
class Seen:
    """What one function was seen to do: the lines that each test executed, and the functions that it called."""

    tests: dict[str, Lines] = field(default_factory=dict)
    called: dict[str, Function] = field(default_factory=dict)


def read_files(tree: Tree, paths: Iterable[str]) -> tuple[dict[str, SourceFile], dict[str, str], Bindings]:
    """Read the source files of a project; return them by path, why others cannot be read, and what their names mean."""
    files: dict[str, SourceFile] = {}
    unread: dict[str, str] = {}
    modules: dict[str, Module] = {}
    for path in paths:
        text, module = tree.text(path), module_name(path, tree.import_root)
        try:
            if text is None:
                raise ValueError("not in the encoding that it states (PEP 263), or no text")
            modules[module] = read_module(module, path.endswith("__init__.py"), ast.parse(text))
            ordered = sorted(functions_of(text, module), key=lambda one: one.first_line)
            files[path] = SourceFile(path, text, module, tuple(ordered))
        except (SyntaxError, ValueError, RecursionError) as error:
            unread[path] = f"{type(error).__name__}: {error}"
    return files, unread, Bindings(modules)


def passing(runs: Sequence[TestRun]) -> list[str]:
    """Return the tests that passed on every repeat, in the order in which they ran."""
    first, *others = runs
    return [
        test
        for test, outcome in first.outcomes.items()
        if outcome is TestOutcome.PASSED and all(run.outcomes.get(test) is TestOutcome.PASSED for run in others)
    ]


def flaky(runs: Sequence[TestRun]) -> list[str]:
    """Return the tests that did not come out alike on every repeat, sorted."""
    tests = {test for run in runs for test in run.outcomes}
    return sorted(test for test in tests if len({run.outcomes.get(test) for run in runs}) > 1)


def seen_by(
    run: TestRun, tests: Iterable[str], sources: Sequence[str], files: Mapping[str, SourceFile]
) -> dict[tuple[str, int], Seen]:
    """Return what a run saw of each function, by path and first line, as far as the tests go."""
    seen: dict[tuple[str, int], Seen] = defaultdict(Seen)
    trace: Mapping[str, Any] = run.trace or {}
    for test in tests:
        told = trace.get(test, {"lines": {}, "calls": []})
        for number, lines in told["lines"].items():
            if file := files.get(sources[int(number)]):
                for place, reached in _by_function(file, lines).items():
                    seen[(file.path, place)].tests[test] = reached
        for caller, line, callee, first in told["calls"]:
            here, there = files.get(sources[caller]), files.get(sources[callee])
            calling, called = here and here.at(line), there and there.at(first)
            # A call of what a function has within itself is no dependency.
            if here and isinstance(called, Function) and calling not in (None, called):
                seen[(here.path, calling.first_line)].called[called.namespace] = called  # type: ignore[union-attr]
    return seen


def _by_function(file: SourceFile, lines: Iterable[int]) -> dict[int, Lines]:
    groups: dict[int, set[int]] = defaultdict(set)
    for line in lines:
        if (function := file.at(line)) is not None:
            groups[function.first_line].add(line)
    return {first: frozenset(reached) for first, reached in groups.items()}
