"""Programs that use what changed, cut out of the tests of a release in which it works."""

from __future__ import annotations

import ast
import copy
import itertools
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from more_itertools import first, interleave_longest
from packaging.version import Version

from pipeline.core.syntax_trees import literal_eval, parse_python
from pipeline.core.vocabularies.changes import MARKED, OF_PARAMETERS, OF_TYPES, OFFERED, RELOCATED, WHOLE, ChangeKind
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import Outcome
from pipeline.core.vocabularies.samples import UsageForm
from pipeline.core.vocabularies.surface import ParameterKind
from pipeline.corpus.own_tests.refusal import Refused
from pipeline.corpus.own_tests.suite import root_name
from pipeline.corpus.usages.api import Api
from pipeline.corpus.usages.find import scan
from pipeline.corpus.usages.uses import Use
from pipeline.corpus.witnesses.scripts import (
    Line,
    line_of,
    loose_script_of,
    rewritten,
    silent_line,
    slice_to,
    values_behind,
)
from pipeline.lake.rows import ChangeRow, OwnTestRow, SymbolParameter

_WORKS_BEFORE = frozenset({ChangeKind.REMOVED, ChangeKind.PARAMETER_REMOVED})
_WORKS_AFTER = frozenset({ChangeKind.INTRODUCED, ChangeKind.PARAMETER_ADDED_OPTIONAL})
_NO_RUN_SHOWS = OF_TYPES | MARKED | {ChangeKind.UNDEPRECATED}
NOT_BY_NAME = frozenset({ParameterKind.POSITIONAL_ONLY, ParameterKind.VAR_POSITIONAL})
"""Kinds of parameters that no call gives by name."""
_LEFT_OUT = frozenset({ChangeKind.PARAMETER_DEFAULT, ChangeKind.PARAMETER_OPTIONAL, ChangeKind.PARAMETER_REQUIRED})
"""Only calls that do not give the parameter come out otherwise."""

CALLED = frozenset({UsageForm.CALL, UsageForm.DECORATOR})
"""Forms that may give arguments."""

_TESTS_OF_CONTEXT = 24
"""The shortest tests that enter a context are looked at."""

_TESTS_OF_OBJECT = 400
"""The shortest tests that use a class are looked at for how one makes it: tens of thousands use `pandas.DataFrame`."""

_OF_TESTS = frozenset({"pytest", "self", "warnings", "contextlib", "mock"})

_DEFINITION = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

_OF_BASES = re.compile(r"\b(isinstance|issubclass|__bases__|__mro__|mro|except)\b")

_WANTS_WARNING = re.compile(r"\bwith .*\b(assert|expect|check)\w*_?warn", re.IGNORECASE)
"""A helper of tests that fails where nothing warns: `with tm.assert_produces_warning(FutureWarning):`."""

_REFLECTED = re.compile(rb"\.__(name|qualname|module|doc)__\b")
"""What every function and class answers alike: a use that asks for it shows nothing of what the API does."""


@dataclass(frozen=True, slots=True)
class ChangeSide:
    """A change from one of its two releases: `home`, in which a use is right, and `other`, in which it may fail.

    `keyword` is the parameter at home that `other` does not take by name, `positional` the one that it does not take by
    position.
    """

    change: ChangeRow
    home: str
    other: str
    path: str
    keyword: str | None = None
    positional: str | None = None

    @property
    def parameter(self) -> str | None:
        """The parameter that a call has to give at home to fail in the other release."""
        return self.keyword or self.positional

    @property
    def is_old(self) -> bool:
        """Whether home is the release before the change."""
        return self.home == self.change["old_version"]

    def names(self, api: Api) -> frozenset[str]:
        """Return the public paths at home that mean the API; a place that came or went is meant by itself alone."""
        if self.change["kind"] in WHOLE:
            return frozenset({self.path})
        return frozenset({self.path, *api.paths_of(self.change["canonical_path"])})

    def other_names(self, api: Api) -> frozenset[str]:
        """Return the public paths at home by which tests may import the API, where the change is about one alone."""
        if self.change["kind"] not in WHOLE or not api.is_module(self.path.rpartition(".")[0]):
            return frozenset()
        return frozenset(api.paths_of(self.path)) - {self.path}

    def concerns(self, path: str, names: frozenset[str]) -> bool:
        """Say whether a path is the API, or a member of what came or went."""
        return path in names or (self.change["kind"] in WHOLE and path.startswith(f"{self.path}."))

    def is_use(self, use: Use, names: frozenset[str]) -> bool:
        """Say whether a use is one that the change can break."""
        if not self.concerns(use.path, names):
            return False
        if self.change["kind"] not in OF_PARAMETERS:
            return True
        is_passed = self.change["parameter"] in use.keywords
        return use.form in CALLED and not (is_passed and self.change["kind"] in _LEFT_OUT)


def sides_of(change: ChangeRow) -> list[ChangeSide]:
    """Return the releases from which running can show a change.

    None for annotations, marks and what is not offered, as private parameters are not.
    """
    kind, parameter = ChangeKind(change["kind"]), change["parameter"]
    if kind in _NO_RUN_SHOWS or change["reach"] not in OFFERED or (parameter or "").startswith("_"):
        return []
    by_name = kind in OF_PARAMETERS and parameter and not str(change["old"] or change["new"]).startswith("*")
    named = {ChangeKind.PARAMETER_REMOVED, ChangeKind.PARAMETER_RENAMED, *_WORKS_AFTER}
    named |= {ChangeKind.PARAMETER_ADDED_REQUIRED}
    keyword = parameter if by_name and kind in named else None
    new_path = str(change["new"]) if kind in RELOCATED else change["path"]
    new_keyword = change["new"] if kind is ChangeKind.PARAMETER_RENAMED else keyword
    old_keyword = None if kind is ChangeKind.PARAMETER_ADDED_REQUIRED else keyword
    old_positional = new_positional = None
    if kind is ChangeKind.PARAMETER_KIND:
        old_keyword, new_keyword = (
            parameter if there in NOT_BY_NAME else None for there in (change["new"], change["old"])
        )
        old_positional, new_positional = (
            parameter if there == ParameterKind.KEYWORD_ONLY else None for there in (change["new"], change["old"])
        )
    before, after = change["old_version"], change["new_version"]
    old = ChangeSide(change, before, after, change["path"], old_keyword, old_positional)
    new = ChangeSide(change, after, before, new_path, new_keyword, new_positional)
    if kind is ChangeKind.PARAMETER_KIND:
        # From a release whose ways the other one takes too, nothing can fail.
        return [side for side in (old, new) if side.parameter]
    return [old] if kind in _WORKS_BEFORE else [new] if kind in _WORKS_AFTER else [old, new]


def side_before_mark(change: ChangeRow) -> list[ChangeSide]:
    """Return the release before a deprecation, in which nothing warns; none for other changes and what is not offered.

    A warning stops no program but one that wants it to, see `deprecations`.
    """
    if change["kind"] not in MARKED or change["reach"] not in OFFERED:
        return []
    return [ChangeSide(change, change["old_version"], change["new_version"], change["path"], change["parameter"])]


@dataclass(frozen=True, slots=True)
class UsingProgram:
    """What prints something with the lines that it needs, among them a use of what changed; `uses` are by line.

    It is an assertion of a test, or, where `test` is None, written from the change.
    """

    test: OwnTestRow | None
    lines: tuple[Line, ...]
    uses: tuple[tuple[Use, ...], ...]
    core: Use

    @property
    def size(self) -> tuple[int, str]:
        """What it is ordered by."""
        return _length(self.lines)

    @property
    def name(self) -> str:
        """What it is called in rejects."""
        return self.test["test"] if self.test else "written"


class TestScripts:
    """The tests of a library as scripts, by the release in which they hold; each is read once a release."""

    __test__ = False

    def __init__(self, tests: Iterable[OwnTestRow], apis: Mapping[str, Api], versions: Iterable[str]) -> None:
        self._apis = apis
        ordered = sorted(tests, key=lambda row: (len(row["preamble"]) + len(row["code"]), row["id"]))
        self._rank = {row["id"]: place for place, row in enumerate(ordered)}
        self._place = {version: place for place, version in enumerate(sorted(versions, key=Version))}
        self._by_path: dict[str, list[OwnTestRow]] = defaultdict(list)
        for row in ordered:
            for path in row["apis"]:
                self._by_path[path].append(row)
        self._scripts: dict[tuple[str, str], _Script | Refused] = {}
        self._objects: dict[tuple[str, str], list[tuple[tuple[Line, ...], str]]] = {}

    def using(self, side: ChangeSide) -> list[OwnTestRow]:
        """Return the tests that use the API: of home and, as the suite may have dropped it early, of releases beyond.

        Those come first that give the parameter by name, then those of the nearest release, then the shortest.
        """
        api = self._apis[side.home]
        names = side.names(api)
        others = side.other_names(api)
        paths = [path for path in self._by_path if side.concerns(path, names) or path in others]
        matching = {row["id"]: row for path in paths for row in self._by_path[path]}
        by_name = re.compile(rf"\b{re.escape(side.parameter)}\s*=") if side.parameter else re.compile("")
        near = {row["id"]: self.nearest(row, side) for row in matching.values()}

        def order(row: OwnTestRow) -> tuple[bool, int, int]:
            distance = abs(self._place[str(near[row["id"]])] - self._place[side.home])
            return not by_name.search(row["preamble"] + row["code"]), distance, self._rank[row["id"]]

        return sorted((row for row in matching.values() if near[row["id"]]), key=order)

    def nearest(self, row: OwnTestRow, side: ChangeSide) -> str | None:
        """Return the release with a test that is nearest to home on its side of the change, if there is one."""
        first, home, last = (self._place[version] for version in (row["version"], side.home, row["last_version"]))
        if first <= home <= last:
            return side.home
        if side.is_old:
            return row["last_version"] if last < home else None
        return row["version"] if first > home else None

    def programs(self, test: OwnTestRow, side: ChangeSide) -> list[UsingProgram]:
        """Return the programs of a test that use what changed: for each use the first assertions that need it.

        A test that imports it from elsewhere imports it from the place that came or went.

        Errors: Refused, where the test is no script, or nothing that it prints depends on the use.
        """
        api = self._apis[side.home]
        script = self._script(test, side.home)
        if others := side.other_names(api):
            script = script.importing(side.path, others, api)
        names = side.names(api)
        text = "\n".join(line.text for line in script.lines).encode()
        places = [
            (place, use)
            for place, each in enumerate(script.uses)
            for use in each
            if side.is_use(use, names) and not _REFLECTED.match(text, use.end_byte)
        ]
        places.sort(key=lambda each: (side.parameter not in each[1].keywords, each[0]))
        programs: dict[str, UsingProgram] = {}
        for place, use in places:
            near = [script.first(test, place, use, extent) for extent in (Extent.TIGHT, Extent.LOOSE)]
            is_registered = isinstance(script.lines[place].node, ast.FunctionDef | ast.ClassDef) and any(near)
            whole = script.first(test, place, use, Extent.ALL) if is_registered else None
            for program in (*near, whole):
                if program is not None:
                    programs.setdefault(program.size[1], program)
        for program in list(programs.values()):
            if side.keyword and (by_name := self._by_name(program, side)) is not None:
                programs.setdefault(by_name.size[1], by_name)
        if side.positional:
            by_position = (self.by_position(program, side) for program in programs.values())
            programs = {program.size[1]: program for program in by_position if program}
        if not places:
            raise Refused(RejectReason.UNTESTED, "the test does not use it in a way that the change concerns")
        if not programs:
            raise Refused(RejectReason.NO_CHECK, "nothing that can be printed without fixtures depends on the use")
        return list(programs.values())

    def runnable(self, test: OwnTestRow, version: str) -> tuple[Line, ...]:
        """Return the lines of a test that do without its fixtures and without pytest.

        Errors: Refused.
        """
        script = self._script(test, version)
        lost = set(script.unbound)
        lines: list[Line] = []
        for line in script.lines:
            if line.needs & lost or "pytest" in line.text:
                lost |= line.binds
            else:
                lines.append(line)
        return tuple(lines)

    def ending_at(self, test: OwnTestRow, version: str, line: Line) -> list[UsingProgram]:
        """Return the programs that come first to print what a line of a test leads to, if that is of one API.

        Before one that prints only that things are equal, or of which class, stand those that print these things.
        """
        api, script = self._apis[version], self._script(test, version)
        place = script.lines.index(line)
        programs: dict[str, UsingProgram] = {}
        for extent in (Extent.TIGHT, Extent.LOOSE):
            for end in script.ends(place, extent):
                lines = tuple(slice_to(script.lines, end, tight=extent is Extent.TIGHT))
                for last in (*values_behind(lines[-1]), lines[-1]):
                    every = (*lines[:-1], last)
                    uses = tuple(uses_by_line(every, api))
                    core = _only_api(uses, every.index(line) if line in every else len(every) - 1)
                    if core is not None and not any(each.needs & script.unbound for each in every):
                        program = UsingProgram(test, every, uses, core)
                        programs.setdefault(program.size[1], program)
        return list(programs.values())

    def valued(self, program: UsingProgram, side: ChangeSide) -> UsingProgram | None:
        """Return a program that prints the value of the API where an assertion looks whether it equals another, or is.

        A value says more of what an API does than that two expressions are equal, or of which class it is.
        """
        api = self._apis[side.home]
        names = side.names(api)
        *before, last = program.lines
        # The shorter side is rather what is tested than what spells out the expected value.
        for printing in sorted(values_behind(last), key=lambda line: len(line.text)):
            needed = frozenset(name for line in (*before, printing) for name in line.needs)
            before_it = [line for line in before if not isinstance(line.node, ast.Assign) or line.binds & needed]
            lines = (*before_it, printing)
            uses = tuple(uses_by_line(lines, api))
            depending = {id(line) for line in slice_to(lines, len(before_it))}
            cores = [
                use
                for line, each in zip(lines, uses, strict=True)
                for use in each
                if id(line) in depending and side.is_use(use, names) and program.core.keywords == use.keywords
            ]
            if cores:
                return UsingProgram(program.test, lines, uses, cores[0])
        return None

    def objects(self, owner: str, version: str) -> Sequence[tuple[tuple[Line, ...], str]]:
        """Return lines with which tests make an object of a class, each way once, and its name; short ones first.

        By turns they end where it was made, and where it was filled: before the test first looks at something.
        """
        key = owner, version
        if key not in self._objects:
            self._objects[key] = list(self._constructions(owner, version))
        return self._objects[key]

    def _constructions(self, owner: str, version: str) -> Iterator[tuple[tuple[Line, ...], str]]:
        api = self._apis[version]
        names = frozenset({owner, *api.paths_of(owner)})
        tests = {row["id"]: row for path in names for row in self._by_path[path]}
        bare: dict[str, tuple[tuple[Line, ...], str]] = {}
        filled: dict[str, tuple[tuple[Line, ...], str]] = {}
        for test in sorted(tests.values(), key=lambda row: self._rank[row["id"]])[:_TESTS_OF_OBJECT]:
            try:
                script = self._script(test, version)
            except Refused:
                continue
            for place, line in enumerate(script.lines):
                node = line.node
                if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call) or len(line.binds) != 1:
                    continue
                end = len(ast.unparse(ast.Assign(node.targets, node.value.func, lineno=1)).encode())
                start = sum(len(before.text.encode()) + 1 for before in script.lines[:place])
                if not any(use.path in names and use.end_byte - start == end for use in script.uses[place]):
                    continue
                (name,) = line.binds
                for end, ways in ((place, bare), (script.last_change(place, name), filled)):
                    lines = tuple(slice_to(script.lines, end, tight=True))
                    if not any(each.needs & script.unbound or "pytest" in each.text for each in lines):
                        key = "".join(each.text for each in script.lines[place : end + 1])
                        ways[key] = min(ways.get(key, (lines, name)), (lines, name), key=lambda each: _length(each[0]))
        ordered = (
            sorted(ways.values(), key=lambda each: (_length(each[0]), each[1]))
            for ways in (bare, {key: way for key, way in filled.items() if key not in bare})
        )
        yield from interleave_longest(*ordered)

    def context(self, text: str, tests: Iterable[OwnTestRow], version: str) -> tuple[Line, ...] | None:
        """Return the fewest lines with which tests of a release come to enter a context of the library."""
        ways: list[tuple[Line, ...]] = []
        entering = line_of(parse_python(text).body[0])
        for test in sorted(tests, key=lambda row: self._rank[row["id"]])[:_TESTS_OF_CONTEXT]:
            try:
                script = self._script(test, version)
            except Refused:
                continue
            for place, line in enumerate(script.lines):
                if not any(ast.unparse(each) == text for node in ast.walk(line.node) for each in entered(node)):
                    continue
                lines = (*slice_to([*script.lines[:place], entering], place, tight=True),)
                is_alone = not any(each.needs & script.unbound or "pytest" in each.text for each in lines)
                if is_alone and any(uses_by_line(lines, self._apis[version])):
                    ways.append(lines[:-1])
        return min(ways, key=_length, default=None)

    def _by_name(self, program: UsingProgram, side: ChangeSide) -> UsingProgram | None:
        """Return a program in which the call gives the parameter by name, where it gives it by position."""
        names = [each["name"] for each in self._parameters(program, side)]
        place, call = self._core_call(program, side)
        if not call or side.keyword not in names:
            return None
        position = names.index(side.keyword)
        if not position < len(call.args) <= len(names):
            return None
        keywords = [
            ast.keyword(name, value) for name, value in zip(names[position:], call.args[position:], strict=False)
        ]
        lines = _recalled(program.lines, place, call, call.args[:position], [*keywords, *call.keywords])
        uses = tuple(uses_by_line(lines, self._apis[side.home]))
        named = next((use for use in uses[place] if side.keyword in use.keywords), None)
        return UsingProgram(program.test, lines, uses, named) if named else None

    def by_position(self, program: UsingProgram, side: ChangeSide) -> UsingProgram | None:
        """Return a program in which the call gives the parameter by position, with the defaults of those before it."""
        parameters = self._parameters(program, side)
        place, call = self._core_call(program, side)
        position = next((n for n, each in enumerate(parameters) if each["name"] == side.positional), None)
        if not call or position is None:
            return None
        if position < len(call.args):
            return program
        by_name = {keyword.arg: keyword.value for keyword in call.keywords}
        if side.positional not in by_name or None in by_name:
            return None
        arguments = list(call.args)
        for parameter in parameters[len(arguments) : position + 1]:
            value = by_name.pop(parameter["name"], None) or _literal(parameter["default"])
            if value is None or parameter["kind"] != ParameterKind.POSITIONAL_OR_KEYWORD:
                return None
            arguments.append(value)
        keywords = [ast.keyword(name, value) for name, value in by_name.items()]
        lines = _recalled(program.lines, place, call, arguments, keywords)
        uses = tuple(uses_by_line(lines, self._apis[side.home]))
        core = next((use for use in uses[place] if use.path == program.core.path), None)
        return UsingProgram(program.test, lines, uses, core) if core else None

    def _parameters(self, program: UsingProgram, side: ChangeSide) -> Sequence[SymbolParameter]:
        api = self._apis[side.home]
        row = api.symbols.get(api.preferred(program.core.path))
        return row["parameters"] if row else ()

    def _core_call(self, program: UsingProgram, side: ChangeSide) -> tuple[int, ast.Call | None]:
        """Return the line of the use for which a program was made, and its call if that unpacks nothing."""
        place = first(number for number, uses in enumerate(program.uses) if program.core in uses)
        start = sum(len(line.text.encode()) + 1 for line in program.lines[:place])
        uses = uses_by_line(program.lines, self._apis[side.home])[place]
        core = next((use for use in uses if use.path == program.core.path), None)
        call = _call_at(program.lines[place], core.end_byte - start) if core else None
        is_plain = call is not None and not any(isinstance(each, ast.Starred) for each in call.args)
        return place, call if is_plain else None

    def _script(self, test: OwnTestRow, version: str) -> _Script:
        key = test["id"], version
        if key not in self._scripts:
            try:
                lines, unbound = loose_script_of(test)
                self._scripts[key] = _Script(lines, uses_by_line(lines, self._apis[version]), unbound)
            except Refused as refused:
                self._scripts[key] = refused
        script = self._scripts[key]
        if isinstance(script, Refused):
            raise script
        return script


class Extent(Enum):
    """What of a test goes with an assertion: lines that it needs, those that may change these too, or all before it."""

    TIGHT = auto()
    LOOSE = auto()
    ALL = auto()


@dataclass(frozen=True, slots=True)
class _Script:
    """The lines of a test with the uses in each, and the names that only fixtures bind."""

    lines: Sequence[Line]
    uses: Sequence[tuple[Use, ...]]
    unbound: frozenset[str]

    def last_change(self, place: int, name: str) -> int:
        """Return the last line that may change what the line at a place made, before the test looks at anything."""
        last = place
        for number in range(place + 1, len(self.lines)):
            if self.lines[number].expectation is not None:
                break
            if name in self.lines[number].changes:
                last = number
        return last

    def importing(self, path: str, others: frozenset[str], api: Api) -> _Script:
        """Return the script with an API imported from one place where it imports it from others, under its own name."""
        name = path.rpartition(".")[2]
        places = {
            place: line.node
            for place, line in enumerate(self.lines)
            if isinstance(line.node, ast.ImportFrom) and others.intersection(imported(line.node))
        }
        # As another name nobody could guess it; but a name that stands for something else stays as it is, and so does
        # one beside which the module has the newer name: then either is right.
        plain = {node.names[0].name for node in places.values() if node.names[0].asname is None}
        reserved = {bound for place, line in enumerate(self.lines) for bound in line.binds if place not in places}
        reserved |= {needed for line in self.lines for needed in line.needs} - plain
        is_alone = path.rpartition(".")[0] not in {other.rpartition(".")[0] for other in others}
        is_free = name not in reserved and reserved.isdisjoint(plain)
        renamed = plain if is_alone and is_free else frozenset()
        lines = [
            line_of(_import_of(path, places[place], renamed))
            if place in places
            else _renaming(line, renamed, name)
            if line.needs & renamed
            else line
            for place, line in enumerate(self.lines)
        ]
        return self if lines == self.lines else _Script(lines, uses_by_line(lines, api), self.unbound)

    def first(self, test: OwnTestRow, place: int, use: Use, extent: Extent) -> UsingProgram | None:
        """Return the first assertion that needs a line, with all that it needs, if it does without pytest.

        Assertions inside of a function or class print at the last line that needs it: nothing else may call it.
        """
        ends = [number for number in range(place, len(self.lines)) if self.lines[number].expectation is not None]
        asserting = [number for number in ends if isinstance(self.lines[number].node, _DEFINITION)]
        ends = [number for number in ends if number not in asserting]
        ends += [end for number in asserting if (end := self._last_need(number)) is not None]
        for end in ends:
            if extent is Extent.ALL:
                # What registers a function and what calls it later share no name.
                every = [line for line in self.lines[:end] if line.expectation is None or line.binds]
                body = [line for line in every if not isinstance(line.node, ast.Import | ast.ImportFrom)]
                names = {name for line in (*body, self.lines[end]) for name in line.needs}
                needed = {id(line) for line in (*body, self.lines[end])}
                needed |= {id(line) for line in every if line.binds & names}
            else:
                needed = {id(line) for line in slice_to(self.lines, end, tight=extent is Extent.TIGHT)}
            if id(self.lines[place]) not in needed:
                continue
            chosen = [number for number, line in enumerate(self.lines) if id(line) in needed]
            lines = tuple(self.lines[number] for number in chosen)
            if lines[-1].expectation is None:
                lines = (*lines[:-1], silent_line(lines[-1]))
            if not any(line.needs & self.unbound or "pytest" in line.text for line in lines):
                return UsingProgram(test, lines, tuple(self.uses[number] for number in chosen), use)
        return None

    def ends(self, place: int, extent: Extent) -> Iterator[int]:
        """Yield the first place of an assertion that needs a line, itself included, if there is one."""
        for end in range(place, len(self.lines)):
            if self.lines[end].expectation is None or isinstance(self.lines[end].node, _DEFINITION):
                continue
            if any(each is self.lines[place] for each in slice_to(self.lines, end, tight=extent is Extent.TIGHT)):
                yield end
                return

    def _last_need(self, place: int) -> int | None:
        """Return the last line that needs what a line defines, None where none does."""
        for number in range(len(self.lines) - 1, place, -1):
            if any(line is self.lines[place] for line in slice_to(self.lines, number, tight=True)):
                return number
        return None


def _only_api(uses: Sequence[tuple[Use, ...]], place: int) -> Use | None:
    """Return the use of the one API in a line, or of the one in all lines where that has none; modules aside."""
    for of_lines in (uses[place : place + 1], uses):
        every = [use for each in of_lines for use in each]
        paths = {use.path for use in every}
        last = [use for use in every if not any(path.startswith(f"{use.path}.") for path in paths)]
        if last:
            return last[-1] if len({use.path for use in last}) == 1 else None
    return None


def waits_for_warning(text: str) -> bool:
    """Say whether a program uses a helper of tests that fails where nothing warns."""
    return _WANTS_WARNING.search(text) is not None


def entered(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the calls of methods by which a node enters contexts, by a `with` or an `ExitStack`."""
    match node:
        case ast.With(items=items):
            contexts = [item.context_expr for item in items]
        case ast.Call(func=ast.Attribute(attr="enter_context"), args=[context]):
            contexts = [context]
        case _:
            return
    yield from (
        each
        for each in contexts
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and root_name(each) not in _OF_TESTS
    )


def _renaming(line: Line, names: Collection[str], name: str) -> Line:
    """Return a line in which a name stands for others."""
    node = copy.deepcopy(line.node)
    for each in ast.walk(node):
        if isinstance(each, ast.Name) and each.id in names:
            each.id = name
    return line_of(node, line.expectation, line.compares)


def _import_of(path: str, node: ast.ImportFrom, renamed: Collection[str]) -> ast.ImportFrom:
    """Return the import of a path that binds the name that another import of one name binds, unless that is renamed."""
    module, _, name = path.rpartition(".")
    bound = node.names[0].asname or (name if node.names[0].name in renamed else node.names[0].name)
    return ast.ImportFrom(module, [ast.alias(name, None if bound == name else bound)], 0)


def _length(lines: Sequence[Line]) -> tuple[int, str]:
    text = "".join(line.text for line in lines)
    return len(text), text


def _recalled(
    lines: Sequence[Line], place: int, call: ast.Call, args: list[ast.expr], keywords: list[ast.keyword]
) -> tuple[Line, ...]:
    """Return the lines of a program with other arguments of a call in one of them."""
    was = call.args, call.keywords
    call.args, call.keywords = args, keywords
    written = rewritten(lines[place])
    call.args, call.keywords = was
    return (*lines[:place], written, *lines[place + 1 :])


def _literal(default: str | None) -> ast.expr | None:
    """Return the default of a parameter as a node, None where it is no literal."""
    try:
        node = parse_python(default or "", mode="eval").body
        literal_eval(node)
    except (ValueError, SyntaxError, TypeError):
        return None
    return node


def _call_at(line: Line, end: int) -> ast.Call | None:
    """Return the call of the line whose function ends at a byte of it."""
    starts = list(itertools.accumulate((len(each.encode()) for each in line.text.splitlines(True)), initial=0))
    for node in ast.walk(line.node):
        if (
            isinstance(node, ast.Call)
            and starts[(node.func.end_lineno or 1) - 1] + (node.func.end_col_offset or 0) == end
        ):
            return node
    return None


def uses_by_line(lines: Sequence[Line], api: Api) -> list[tuple[Use, ...]]:
    """Return the uses of the library in each line of a script."""
    text, ends = "", []
    for line in lines:
        text += f"{line.text}\n"
        ends.append(len(text.encode()))
    of_lines: list[list[Use]] = [[] for _ in lines]
    place = 0
    for use in scan(text, api).uses:
        while use.name_start_byte >= ends[place]:
            place += 1
        of_lines[place].append(use)
    return [tuple(each) for each in of_lines]


def blamed(side: ChangeSide, program: UsingProgram, place: int, names: frozenset[str]) -> bool:
    """Say whether the line at which a program fails uses what changed, imports it, or calls what uses it."""
    line = program.lines[place]
    if any(side.is_use(use, names) for use in program.uses[place]):
        return True
    if any(side.concerns(path, names) for path in imported(line.node)):
        return True
    return any(
        other.binds & line.needs and any(side.is_use(use, names) for use in program.uses[number])
        for number, other in enumerate(program.lines[:place])
        if isinstance(other.node, ast.FunctionDef | ast.ClassDef)
    )


def imported(node: ast.stmt) -> Iterator[str]:
    """Yield the dotted paths that an import statement names."""
    if isinstance(node, ast.ImportFrom):
        yield from (f"{node.module}.{alias.name}" for alias in node.names)
    elif isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)


def is_symptom(change: ChangeRow, path: str, keyword: str | None, outcome: Outcome, message: str, text: str) -> bool:
    """Say whether a failure of a program is the one that a change leads to: it names what is gone or not taken.

    A warning of deprecation, made an exception, names the API or the parameter. Other bases show where the program asks
    for them, or something inherited is missing. Of a change of behaviour no
    exception tells; that the failing line uses nothing else that changed is for the caller. That a test waits for a
    warning in vain says nothing of what its code does.
    """
    kind = change["kind"]
    if kind in WHOLE:
        name = path.rpartition(".")[2]
        return outcome in (Outcome.API_MISSING, Outcome.IMPORT_ERROR) and _word(name, message)
    if kind in OF_PARAMETERS and kind not in _LEFT_OUT:
        named = _word(keyword, message) if keyword else False
        function = _word(f"{path.rpartition('.')[2]}()", message) or (
            path.rpartition(".")[2][:1].isupper() and _word("__init__()", message)
        )
        return "TypeError" in message and (named or (function and "positional argument" in message))
    if kind in MARKED:
        return "Warning" in message and _word(keyword or path.rpartition(".")[2], message)
    if kind == ChangeKind.BASES:
        return outcome == Outcome.API_MISSING or _OF_BASES.search(text) is not None
    return outcome != Outcome.FAILED_ASSERTION or not waits_for_warning(text)


def _word(name: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None
