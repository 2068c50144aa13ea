"""What traced runs say together: which tests pass, and what they execute of which function, alike on every repeat."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pipeline.core.syntax_trees import parse_python
from pipeline.core.vocabularies.projects import TestOutcome
from pipeline.families.repository_tasks.bindings import Bindings, Module, read_module
from pipeline.families.repository_tasks.functions import Function, Skipped, functions_of, module_name
from pipeline.families.repository_tasks.report import TestTrace
from pipeline.families.repository_tasks.tree import Tree
from pipeline.families.repository_tasks.variant_runs import TestRun

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
        place = bisect_right([definition.first_line for definition in self.functions], line) - 1
        located = self.functions[place] if place >= 0 else None
        last = None if located is None else located.last_line if isinstance(located, Skipped) else located.body[1]
        return located if last is not None and line <= last else None


@dataclass
class Executions:
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
            modules[module] = read_module(module, path.endswith("__init__.py"), parse_python(text))
            ordered = sorted(functions_of(text, module), key=lambda function: function.first_line)
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


def executions_of(
    run: TestRun, tests: Iterable[str], sources: Sequence[str], files: Mapping[str, SourceFile]
) -> dict[tuple[str, int], Executions]:
    """Return what a run saw of each function, by path and first line, as far as the tests go."""
    executions: dict[tuple[str, int], Executions] = defaultdict(Executions)
    trace = run.trace or {}
    for test in tests:
        trace_of_test = trace.get(test, TestTrace({}, []))
        for number, lines in trace_of_test.lines.items():
            if file := files.get(sources[int(number)]):
                for place, reached in _by_function(file, lines).items():
                    executions[(file.path, place)].tests[test] = reached
        calls = _Calls(files, sources, trace_of_test.calls)
        for calling, called in calls.direct():
            executions[calling].called[called.namespace] = called
    return executions


Place = tuple[str, int]


class _Calls:
    """The calls that one test saw, as places of code: a file and the first line of a function, or of one within it."""

    def __init__(self, files: Mapping[str, SourceFile], sources: Sequence[str], calls: Iterable[Sequence[int]]) -> None:
        self.files = files
        self.out: dict[Place, set[Place]] = defaultdict(set)
        for caller, line, callee, first in calls:
            self.out[sources[caller], line].add((sources[callee], first))

    def direct(self) -> Iterator[tuple[Place, Function]]:
        """Yield for each function those that it called, also through what a decorator of the project put around."""
        for place, targets in self.out.items():
            calling = self.function(place)
            for target in self.behind(targets) if calling else ():
                called = self.function(target)
                if calling and isinstance(called, Function) and called is not calling:
                    yield (place[0], calling.first_line), called

    def function(self, place: Place) -> Function | Skipped | None:
        """Return the function to which a place belongs."""
        file = self.files.get(place[0])
        return file.at(place[1]) if file else None

    def behind(self, targets: Iterable[Place]) -> set[Place]:
        """Return places and, where they are within another function as wrappers are, those that they called."""
        located: set[Place] = set()
        todo = set(targets)
        while todo:
            located |= todo
            inner = {
                place for place in todo if (definition := self.function(place)) and definition.first_line != place[1]
            }
            todo = {further for place in inner for further in self.out.get(place, ())} - located
        return located


def _by_function(file: SourceFile, lines: Iterable[int]) -> dict[int, Lines]:
    groups: dict[int, set[int]] = defaultdict(set)
    for line in lines:
        if (function := file.at(line)) is not None:
            groups[function.first_line].add(line)
    return {first: frozenset(reached) for first, reached in groups.items()}
