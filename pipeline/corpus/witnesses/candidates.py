"""Which parts of two forms of one test can show a change: an assertion that both make, with the lines that it needs."""

from __future__ import annotations

import ast
import difflib
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from packaging.version import Version

from pipeline.core.vocabularies.changes import RELOCATED, WHOLE
from pipeline.core.vocabularies.running import Outcome
from pipeline.corpus.usages.api import Api
from pipeline.corpus.usages.find import scan
from pipeline.corpus.witnesses.changed_uses import imported, is_symptom, sides_of, uses_by_line
from pipeline.corpus.witnesses.scripts import Line, slice_to
from pipeline.lake.rows import ChangeRow


@dataclass(frozen=True, slots=True)
class Candidate:
    """The same assertion with the lines that it needs, in the old form of a test and in the new one."""

    old: tuple[Line, ...]
    new: tuple[Line, ...]

    @property
    def size(self) -> int:
        """How many lines both have."""
        return sum(line.text.count("\n") + 1 for line in (*self.old, *self.new))


@dataclass(frozen=True, slots=True)
class Failure:
    """How the old form fails in the new release, and the place of its line that does."""

    place: int
    outcome: Outcome
    message: str


@dataclass(frozen=True, slots=True)
class Cause:
    """The change of the library that lines which differ have to do with, and the API of either side."""

    change: ChangeRow
    old_path: str
    new_path: str


def candidates(old: Sequence[Line], new: Sequence[Line]) -> list[Candidate]:
    """Return what may show a change, the shortest first; where both sides are the same lines, nothing can.

    Sides with other strings or numbers show another example, whatever they print.
    """
    by_texts: dict[tuple[str, str], Candidate] = {}
    for place, other in matched(old, new):
        for one in (
            Candidate(tuple(slice_to(old, place)), tuple(slice_to(new, other))),
            Candidate(tuple(_before(old, place)), tuple(_before(new, other))),
        ):
            texts = text_of(one.old), text_of(one.new)
            if texts[0] != texts[1] and "pytest" not in "".join(texts) and _values(one.old) == _values(one.new):
                by_texts.setdefault(texts, one)
    return sorted(by_texts.values(), key=lambda candidate: candidate.size)


def text_of(lines: Iterable[Line]) -> str:
    """Return the program that lines are; a blank line stands behind the imports."""
    texts: list[str] = []
    before: ast.stmt | None = None
    for line in lines:
        is_import = isinstance(line.node, ast.Import | ast.ImportFrom)
        is_definition = isinstance(line.node, ast.FunctionDef | ast.ClassDef)
        if before is not None and (
            (isinstance(before, ast.Import | ast.ImportFrom) and not is_import)
            or is_definition
            or isinstance(before, ast.FunctionDef | ast.ClassDef)
        ):
            texts.append("")
        texts.append(line.text)
        before = line.node
    return "\n".join(texts) + "\n"


def matched(old: Sequence[Line], new: Sequence[Line]) -> Iterator[tuple[int, int]]:
    """Yield the places of the assertions that test the same: those that expect the same, in one order.

    Of an assertion that names no value the constants decide, for the call in it may be what changed.
    """
    olds, news = (
        [place for place, line in enumerate(lines) if line.expectation is not None and not line.is_of_raised]
        for lines in (old, new)
    )
    matcher = difflib.SequenceMatcher(
        None, [old[place].expectation for place in olds], [new[place].expectation for place in news], autojunk=False
    )
    for tag, first, last, other, end in matcher.get_opcodes():
        if tag not in ("equal", "replace") or last - first != end - other:
            continue
        for place, beside in zip(olds[first:last], news[other:end], strict=True):
            if tag == "equal" or _alike(old[place], new[beside]):
                yield place, beside


def _alike(one: Line, other: Line) -> bool:
    same_kind = not (one.compares or other.compares)
    return same_kind and _constants(one.node) == _constants(other.node)


def _constants(node: ast.stmt) -> Counter[str]:
    return Counter(repr(each.value) for each in ast.walk(node) if isinstance(each, ast.Constant))


def _values(lines: Iterable[Line]) -> Counter[str]:
    constants = (each.value for line in lines for each in ast.walk(line.node) if isinstance(each, ast.Constant))
    return Counter(repr(value) for value in constants if value is not None and not isinstance(value, bool))


def _before(lines: Sequence[Line], last: int) -> Iterator[Line]:
    """Yield all lines up to one, but for other assertions: what is done in a way that names do not show."""
    yield from (line for line in lines[:last] if line.expectation is None or line.binds)
    yield lines[last]


class Catalogue:
    """The changes of a library by the paths that code may use, old and new."""

    def __init__(self, changes: Iterable[ChangeRow]) -> None:
        self._by_path: dict[str, list[ChangeRow]] = {}
        for change in sorted(changes, key=lambda row: (not row["breaking"], row["kind"], row["id"])):
            paths = {change["path"], change["canonical_path"], *([str(change["new"])] * (change["kind"] in RELOCATED))}
            for path in paths:
                self._by_path.setdefault(path, []).append(change)

    def touching(self, path: str, old_version: str, new_version: str) -> list[ChangeRow]:
        """Return what changed at a path between two releases; of what holds it only that it came or went."""
        first, last = Version(old_version), Version(new_version)
        changes: list[ChangeRow] = []
        whole = path
        while whole:
            changes += [
                change
                for change in self._by_path.get(whole, ())
                if first < Version(change["new_version"]) <= last and (whole == path or change["kind"] in WHOLE)
            ]
            whole = whole.rpartition(".")[0]
        return changes

    def cause(
        self, candidate: Candidate, apis: Mapping[str, Api], old_version: str, new_version: str, failure: Failure
    ) -> Cause | frozenset[str]:
        """Return the change behind the line of the old form that fails, a breaking one first; else the paths in it.

        Where an exception names what is gone or not taken, it is the change of that.
        """
        old_all, _ = _uses(candidate.old, candidate.new, apis[old_version])
        new_all, new_own = _uses(candidate.new, candidate.old, apis[new_version])
        line = candidate.old[failure.place]
        used = uses_by_line(candidate.old, apis[old_version])[failure.place]
        paths = frozenset({*(use.path for use in used), *imported(line.node)})
        keywords: set[str | None] = {word for use in used for word in use.keywords}
        concerned = [
            (not change["breaking"], -path.count("."), path, change["id"], change)
            for path in sorted(paths)
            for name in dict.fromkeys((path, *(_canonical(path, api) for api in apis.values())))
            for change in self.touching(name, old_version, new_version)
            if sides_of(change)
            and is_symptom(
                change,
                _gone(change, path),
                _passed_parameter(change, keywords),
                failure.outcome,
                failure.message,
                text_of(candidate.old),
            )
        ]
        if not concerned or not old_all or not new_all:
            return paths
        *_, path, _, change = min(concerned, key=lambda each: each[:4])
        destinations = {str(change["new"])} & new_all if change["kind"] in RELOCATED else set()
        new_path = (
            min(destinations) if destinations else path if path in new_all else _nearest(path, new_own or new_all)
        )
        return Cause(change, path if path in old_all else _nearest(path, old_all), new_path)


def _gone(change: ChangeRow, path: str) -> str:
    """Return the path that an exception names: that of the class or module, where it went as a whole."""
    return change["path"] if change["kind"] in WHOLE else path


def _passed_parameter(change: ChangeRow, keywords: Container[str | None]) -> str | None:
    return change["parameter"] if change["parameter"] in keywords else None


def _uses(lines: Sequence[Line], others: Sequence[Line], api: Api) -> tuple[frozenset[str], frozenset[str]]:
    """Return the public paths that lines use, and those that they use where the others differ."""
    theirs = {line.text for line in others}
    own: list[tuple[int, int]] = []
    text, at = "", 0
    for line in lines:
        text += f"{line.text}\n"
        end = len(text.encode())
        if line.text not in theirs:
            own.append((at, end))
        at = end
    uses = scan(text, api).uses
    differing = {use.path for use in uses if any(start <= use.name_start_byte < end for start, end in own)}
    return frozenset(use.path for use in uses), frozenset(differing)


def _canonical(path: str, api: Api) -> str:
    """Return where a definition stands: an inherited member changes under the path of the class that defines it."""
    row = api.symbols.get(path)
    return row["canonical_path"] if row else path


def _nearest(path: str, paths: Iterable[str]) -> str:
    name = path.rpartition(".")[2]

    def likeness(other: str) -> float:
        return difflib.SequenceMatcher(None, name, other.rpartition(".")[2], autojunk=False).ratio()

    return min(paths, key=lambda other: (-likeness(other), -other.count("."), other))
