"""Programs without the lines that they do without: the rest prints at home, and fails elsewhere, as before."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from pipeline.corpus.own_tests.candidates import text_of
from pipeline.corpus.own_tests.changed_uses import UsingProgram
from pipeline.corpus.own_tests.script_runs import ScriptRuns, failing_place, outcome_of, outputs
from pipeline.corpus.own_tests.scripts import Line


@dataclass(frozen=True, slots=True)
class Shown:
    """A program that shows a change: what its lines print at home, and the place at which it fails in `other`."""

    program: UsingProgram
    home: str
    other: str
    printed: Sequence[str]
    place: int


@dataclass(frozen=True, slots=True)
class _Part:
    """What is left of a program, with what its lines print at home, and the place of the line that fails."""

    program: UsingProgram
    printed: Sequence[str]
    place: int

    @property
    def text(self) -> str:
        return text_of(self.program.lines)


def reduce_programs(shown: Iterable[Shown], runs: ScriptRuns) -> list[Shown]:
    """Return the programs, each without all lines that it does without one by one, where the rest still holds.

    A line stays that prints, that fails in the other release, or that has the use for which the program was cut out.
    An import, or a line that binds a name, goes with the last line that needs it. Delta debugging (Zeller and
    Hildebrandt 2002, doi:10.1109/32.988498) would try more; one round at home costs no process for each failure.
    """
    programs = list(shown)
    singles = [{place: part for place in _removable(each) if (part := _without(each, {place}))} for each in programs]
    _run(runs, [(each.home, part) for each, parts in zip(programs, singles, strict=True) for part in parts.values()])
    reduced: list[_Part | None] = []
    for each, parts in zip(programs, singles, strict=True):
        needless = {place for place, part in parts.items() if _prints_the_same(part, each.home, runs)}
        reduced.append(_without(each, needless) if needless else None)
    wanted = [(each, part) for each, part in zip(programs, reduced, strict=True) if part is not None]
    _run(runs, [(version, part) for each, part in wanted for version in (each.home, each.other)])
    return [
        replace(each, program=part.program, printed=part.printed, place=part.place)
        if part is not None and _prints_the_same(part, each.home, runs) and _fails_the_same(each, part, runs)
        else each
        for each, part in zip(programs, reduced, strict=True)
    ]


def _removable(each: Shown) -> list[int]:
    return [
        place
        for place, line in enumerate(each.program.lines)
        if line.expectation is None
        and place != each.place
        and not each.printed[place]
        and not isinstance(line.node, ast.Import | ast.ImportFrom)
        and each.program.core not in each.program.uses[place]
    ]


def _without(each: Shown, places: Collection[int]) -> _Part | None:
    """Return a program without lines, and without those that only they needed; None where others need them too."""
    lines = each.program.lines
    kept = [place for place in range(len(lines)) if place not in places]
    dropped = {name for place in places for name in lines[place].needs}
    while True:
        needed = {name for place in kept for name in lines[place].needs}
        idle = {
            place
            for place in kept
            if place != each.place and lines[place].binds & dropped and not lines[place].binds & needed
        } - {place for place in kept if each.printed[place] or each.program.core in each.program.uses[place]}
        if not idle:
            break
        dropped |= {name for place in idle for name in lines[place].needs}
        kept = [place for place in kept if place not in idle]
    bound = {name for place in kept for name in lines[place].binds}
    if any(lines[place].needs & (_bound_by(lines) - bound) for place in kept):
        return None
    uses = tuple(each.program.uses[place] for place in kept)
    program = replace(each.program, lines=tuple(lines[place] for place in kept), uses=uses)
    return _Part(program, [each.printed[place] for place in kept], kept.index(each.place))


def _bound_by(lines: Iterable[Line]) -> set[str]:
    return {name for line in lines for name in line.binds}


def _run(runs: ScriptRuns, parts: Iterable[tuple[str, _Part]]) -> None:
    scripts: dict[str, dict[str, Sequence[Line]]] = defaultdict(dict)
    for version, part in parts:
        scripts[version][part.text] = part.program.lines
    runs.run(scripts)


def _prints_the_same(part: _Part, home: str, runs: ScriptRuns) -> bool:
    return outputs(part.program.lines, runs.results.get((part.text, home))) == part.printed


def _fails_the_same(each: Shown, part: _Part, runs: ScriptRuns) -> bool:
    before = runs.results[text_of(each.program.lines), each.other]
    after = runs.results.get((part.text, each.other))
    return (
        after is not None
        and failing_place(part.program.lines, part.printed, after) == part.place
        and (outcome_of(after), after.detail) == (outcome_of(before), before.detail)
    )
