"""Programs without their needless parts: the rest prints the same at home, and fails in the same way elsewhere."""

from __future__ import annotations

import ast
import copy
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from pipeline.core.syntax_trees import parse_python
from pipeline.corpus.witnesses.candidates import text_of
from pipeline.corpus.witnesses.changed_uses import UsingProgram
from pipeline.corpus.witnesses.deprecations import FILTER
from pipeline.corpus.witnesses.script_runs import ScriptRuns, failing_place, outcome_of, outputs
from pipeline.corpus.witnesses.scripts import Line, line_of


@dataclass(frozen=True, slots=True)
class ProvenProgram:
    """A program that shows a change: what its lines print at home, and the place at which it fails in `other`."""

    program: UsingProgram
    home: str
    other: str
    printed: Sequence[str]
    place: int


@dataclass(frozen=True, slots=True)
class Part:
    """What became of a program, with what its lines print at home, and the place of the line that fails."""

    program: UsingProgram
    printed: Sequence[str]
    place: int

    @property
    def text(self) -> str:
        """The program as it runs."""
        return text_of(self.program.lines)


_Cut = tuple[int, int | None]
"""A line to leave out, by its place, or, by its number among them, a piece of it."""

_LIMIT = -1
"""The number of a limit to how much is printed of an iterator, which ended before it."""


def reduce_programs(proven: Iterable[ProvenProgram], runs: ScriptRuns) -> list[ProvenProgram]:
    """Return the programs without the parts that are needless one by one, if the rest still shows the change.

    Parts are lines, arguments by name, and statements in classes. A line stays whole if it prints, if it fails in the
    other release, or if the program was cut out for its use of the API. An import, or a line that binds a name, goes
    with the last line that needs it. Delta debugging (Zeller and Hildebrandt 2002, doi:10.1109/32.988498) would try
    more; one round at home costs no process for each failure.
    """
    programs = list(proven)
    singles = [{cut: part for cut in _cuts(each) if (part := _without(each, {cut}))} for each in programs]
    _run(runs, [(each.home, part) for each, parts in zip(programs, singles, strict=True) for part in parts.values()])
    reduced: list[Part | None] = []
    for each, parts in zip(programs, singles, strict=True):
        needless = {cut for cut, part in parts.items() if _prints_the_same(part, each.home, runs)}
        reduced.append(_without(each, needless) if needless else None)
    return [smaller or each for each, smaller in zip(programs, still_showing(programs, reduced, runs), strict=True)]


def still_showing(
    programs: Sequence[ProvenProgram], changed: Sequence[Part | None], runs: ScriptRuns
) -> list[ProvenProgram | None]:
    """Return programs as they were changed, if that prints what it says and fails as before in the other release."""
    pairs = list(zip(programs, changed, strict=True))
    _run(runs, [(version, part) for each, part in pairs if part for version in (each.home, each.other)])
    return [
        replace(each, program=part.program, printed=part.printed, place=part.place)
        if part is not None and _prints_the_same(part, each.home, runs) and _fails_the_same(each, part, runs)
        else None
        for each, part in pairs
    ]


def without_failing_line(program: UsingProgram, place: int) -> UsingProgram | None:
    """Return a program without the line at which it fails and those that depend on it; None where none comes behind.

    With the change taken away, it has to print the same in both releases.
    """
    lines = program.lines
    remaining = list(range(place))
    names = lines[place].binds | lines[place].changes
    for number in range(place + 1, len(lines)):
        if lines[number].needs & names:
            names |= lines[number].binds | lines[number].changes
        else:
            remaining.append(number)
    if len(remaining) == place:
        return None
    return replace(
        program,
        lines=tuple(lines[number] for number in remaining),
        uses=tuple(program.uses[number] for number in remaining),
    )


def _cuts(each: ProvenProgram) -> Iterator[_Cut]:
    for place, line in enumerate(each.program.lines):
        if each.printed[place] and _limited(line.node, each.printed[place]) is not None:
            yield place, _LIMIT
        stays = place == each.place or bool(each.printed[place]) or each.program.core in each.program.uses[place]
        if (
            not stays
            and line.expectation is None
            and line.text != FILTER.text
            and not isinstance(line.node, ast.Import | ast.ImportFrom)
        ):
            yield place, None
            yield from ((place, number) for number in range(len(list(_pieces(line.node)))))


def _pieces(tree: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Yield what a line may do without, each with the node that holds it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield from ((node, keyword) for keyword in node.keywords if keyword.arg is not None)
        elif isinstance(node, ast.ClassDef):
            yield from ((node, statement) for statement in node.body if not isinstance(statement, ast.Pass))


def _limited(node: ast.stmt, printed: str = "[]") -> ast.Call | None:
    """Return the call of `list` in `print(list(islice(ITERATOR, LIMIT)))`, if fewer things were printed than that."""
    match node:
        case ast.Expr(ast.Call(args=[ast.Call(func=ast.Name("list"), args=[ast.Call() as inner]) as outer])):
            try:
                things = parse_python(printed.strip(), mode="eval").body
            except (SyntaxError, ValueError, MemoryError, RecursionError):
                return None
            match inner, things:
                case ast.Call(func=ast.Name("islice"), args=[_, ast.Constant(int(limit))]), ast.List(elts=elements):
                    return outer if len(elements) < limit else None
    return None


def _cut_down(line: Line, numbers: Collection[int]) -> Line:
    """Return a line without some of its pieces."""
    tree = copy.deepcopy(line.node)
    if _LIMIT in numbers and (outer := _limited(tree)) is not None:
        outer.args = outer.args[0].args[:1]  # type: ignore[attr-defined]
    for number, (holder, piece) in enumerate(list(_pieces(tree))):
        if number not in numbers:
            continue
        if isinstance(holder, ast.Call):
            holder.keywords = [keyword for keyword in holder.keywords if keyword is not piece]
        elif isinstance(holder, ast.ClassDef):
            holder.body = [each for each in holder.body if each is not piece] or [ast.Pass()]
    return line_of(tree, line.expectation, line.compares)


def _without(each: ProvenProgram, cuts: Collection[_Cut]) -> Part | None:
    """Return a program without lines and pieces, and without the lines that only they needed.

    None where other lines need them too.
    """
    pieces: dict[int, set[int]] = defaultdict(set)
    for place, number in cuts:
        if number is not None:
            pieces[place].add(number)
    whole = {place for place, number in cuts if number is None}
    before = each.program.lines
    lines = [_cut_down(line, pieces[place]) if place in pieces else line for place, line in enumerate(before)]
    remaining = [place for place in range(len(lines)) if place not in whole]
    dropped = {name for place in {*whole, *pieces} for name in before[place].needs}
    while True:
        needed = {name for place in remaining for name in lines[place].needs}
        idle = {
            place
            for place in remaining
            if place != each.place and lines[place].binds & dropped and not lines[place].binds & needed
        } - {place for place in remaining if each.printed[place] or each.program.core in each.program.uses[place]}
        if not idle:
            break
        dropped |= {name for place in idle for name in lines[place].needs}
        remaining = [place for place in remaining if place not in idle]
    lost = {name for line in before for name in line.binds} - {
        name for place in remaining for name in lines[place].binds
    }
    if any(lines[place].needs & lost for place in remaining):
        return None
    uses = tuple(each.program.uses[place] for place in remaining)
    program = replace(each.program, lines=tuple(lines[place] for place in remaining), uses=uses)
    return Part(program, [each.printed[place] for place in remaining], remaining.index(each.place))


def _run(runs: ScriptRuns, parts: Iterable[tuple[str, Part]]) -> None:
    scripts: dict[str, dict[str, Sequence[Line]]] = defaultdict(dict)
    for version, part in parts:
        scripts[version][part.text] = part.program.lines
    runs.run(scripts)


def _prints_the_same(part: Part, home: str, runs: ScriptRuns) -> bool:
    return outputs(part.program.lines, runs.results.get((part.text, home))) == part.printed


def _fails_the_same(each: ProvenProgram, part: Part, runs: ScriptRuns) -> bool:
    before = runs.results[text_of(each.program.lines), each.other]
    after = runs.results.get((part.text, each.other))
    return (
        after is not None
        and failing_place(part.program.lines, part.printed, after) == part.place
        and (outcome_of(after), after.detail) == (outcome_of(before), before.detail)
    )
