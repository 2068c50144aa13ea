"""A file parsed in pieces, its functions apart: what versions of a file share is parsed and read once.

A text that parses by itself as one function is that function wherever the parser begins a statement. So functions are
cut out with `pass` in their place, and the rest is parsed; where it has that `pass` as a statement of the module or of
a class, the function stands there.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable, Container, Iterator

from prune_source import prune_source

from pipeline.api.surface.parse.bodies import Bodies, Body
from pipeline.api.surface.parse.deep import TOO_DEEP
from pipeline.api.surface.parse.keyword_scan import PYTHON_2, keywords_in
from pipeline.api.surface.parse.syntax import Function
from pipeline.core.syntax_trees import parse_python

_BLANKS = re.compile(r"[ \t]*")
_IN_MODULE = re.compile(r"\n(?=@|def |async def |class )")
_IN_CLASS = re.compile(r"\n([ \t]+)(?:@|def |async def )")
_CLASS_AROUND = "class _:\n"

FunctionParser = Callable[[str], Body | None]
"""Gives the body of a function by its text alone, which may be known already; None of what is no function."""

Heads = Callable[[str, str], Function | None]
"""Gives a function without its body, by its text to where the body begins and what stands for that."""

Placed = dict[int, tuple[Body, int]]
"""The functions that were cut out of a file by the ids of their nodes, each with the lines before its text."""

Cuts = dict[int, list[tuple[int, Body]]]
"""The functions that were cut out of a file with the lines where they begin, by the first line of those in a row."""


def without_bodies(text: str) -> str:
    """Return a source with the bodies of its functions replaced by `pass`, but those of `__init__`; lines stay."""
    return (prune_source(text) or text) if "def " in text else text


def remembered(size: int) -> FunctionParser:
    """Return what parses functions that stand alone, and remembers as many as that."""
    heads = functools.lru_cache(maxsize=size)(_parse_head)
    return functools.lru_cache(maxsize=size)(functools.partial(parse_alone, heads=heads))


def parse_alone(text: str, heads: Heads | None = None) -> Body | None:
    """Parse the text of one function, from its indentation on; None if it is not one function and nothing else.

    What comes after it shows that none of its strings and brackets is still open. `heads` may remember what comes
    before the body.
    """
    match = _BLANKS.match(text)
    indentation = match[0] if match else ""
    source = f"{_CLASS_AROUND if indentation else ''}{text}\n"
    below = f"{indentation}pass\n"
    pruned = without_bodies(source + below)
    above = pruned.removesuffix(f"pass\n{below}")
    blanks = above[above.rfind("\n") + 1 :]
    if above == pruned or blanks.strip():
        # no body that stands by itself, or a comment that ends in that word
        node = _parse_head(pruned, "")
        return None if node is None else Body(source, node, node.end_lineno or node.lineno)
    # how many lines the body has does not matter
    node = (heads or _parse_head)(f"{above.rstrip()}\n{blanks}", f"pass\n{below}")
    return None if node is None else Body(source, node, above.count("\n") + 1)


def _parse_head(head: str, below: str) -> Function | None:
    """Parse a function without its body, and what is below; None if it is not one function and `pass`."""
    try:
        body = parse_python(head + below).body
    except (SyntaxError, ValueError, *TOO_DEEP):
        return None
    if len(body) == 1 and isinstance(body[0], ast.ClassDef):
        body = body[0].body
    match body:
        case [ast.FunctionDef() | ast.AsyncFunctionDef() as node, ast.Pass()]:
            return node
    return None


def parse_in_pieces(text: str, parse_function: FunctionParser, *, unsure: bool = False) -> tuple[ast.Module, Bodies]:
    """Parse a source without the bodies of its functions, or all of it where the rest does not parse.

    A function that may be Python 2 must be seen to parse; of a source that is `unsure` otherwise, all must be.

    Errors: those of `ast.parse`, or a SyntaxError without a line if the body of a function does not parse.
    """
    rest, cuts = cut_out(text, parse_function)
    cut = [body for row in cuts.values() for _, body in row]
    keywords = keywords_in(rest).union(*[body.keywords for body in cut])
    whole = unsure or PYTHON_2 in keywords
    if all(body.parses for body in cut if unsure or PYTHON_2 in body.keywords):
        tree = _parsed(rest if whole else without_bodies(rest))
        if tree is not None:
            placed = _placed(tree, cuts)
            if len(placed) == len(cut):
                return tree, Bodies(text, rest, placed, parse_function, keywords)
            placed_at = {(id(body), before) for body, before in placed.values()}
            lines = [(line, body) for row in cuts.values() for line, body in row]
            astray = {body.text for line, body in lines if (id(body), line - body.begins) not in placed_at}
            return parse_in_pieces(text, lambda function: _but(astray, parse_function(function)), unsure=unsure)
    elif _stand(rest, cuts):
        raise SyntaxError("the body of a function does not parse")
    tree = None if whole else _parsed(without_bodies(text))
    return tree or parse_python(text), Bodies(text, text, {}, parse_function, keywords)


def _but(texts: Container[str], body: Body | None) -> Body | None:
    """Return the body of a function, but not of one that stands in a string."""
    return None if body is None or body.text in texts else body


def _parsed(source: str) -> ast.Module | None:
    try:
        return parse_python(source)
    except (SyntaxError, ValueError, *TOO_DEEP):
        return None


def cut_out(text: str, parse_function: FunctionParser) -> tuple[str, Cuts]:
    """Return a source with `pass` in the place of functions, lines as they were, and the functions by their lines.

    Those with nothing between them stand in a row: the parser begins a statement where one before has ended.
    """
    rest: list[str] = []
    cuts: Cuts = {}
    row: list[tuple[int, Body]] = []
    within = None
    copied, line = 0, 1
    for start, end, indentation in _functions(text):
        function = text[start:end].rstrip(" \t\n")
        body = parse_function(function)
        if body is None:
            continue
        between, gap = text[copied:start], body.height - 1
        line += between.count("\n")
        rest.append(between)
        if indentation != within or not between.isspace():
            row = cuts[line] = []
            rest += [indentation, "pass"]
        row.append((line, body))
        rest.append("\n" * gap)
        copied, line, within = start + len(function), line + gap, indentation
    return "".join([*rest, text[copied:]]), cuts


def _stand(rest: str, cuts: Cuts) -> bool:
    """Return whether the functions that were cut out of a source are statements of its module or of its classes."""
    tree = _parsed(without_bodies(rest))
    return tree is not None and len(_placed(tree, cuts)) == sum(map(len, cuts.values()))


def _functions(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield from where to where functions may stand in a module and in its classes, with their indentation."""
    for start, end in _statements(text, "", 0, len(text), _IN_MODULE):
        if not text.startswith("class ", start):
            yield start, end, ""
        elif first := _IN_CLASS.search(text, start, end):
            for place, stop in _statements(text, first[1], start, end, _beginning(first[1])):
                yield place, stop, first[1]


def _statements(
    text: str, indentation: str, start: int, end: int, beginning: re.Pattern[str]
) -> Iterator[tuple[int, int]]:
    """Yield from where to where the statements go that a pattern finds the beginning of, decorators with the rest."""
    after = _after(indentation)
    match = beginning.search(text, start, end)
    while match:
        first = place = match.end()
        while True:
            following = after.search(text, place, end)
            stop = following.start() if following else end
            if following is None or text[place + len(indentation)] != "@":
                break
            place = following.end()
        if text.startswith("class ", place):
            first = place
        yield first, stop
        match = beginning.search(text, stop, end)


@functools.lru_cache(maxsize=64)
def _beginning(indentation: str) -> re.Pattern[str]:
    return re.compile(rf"\n(?={indentation}(?:@|def |async def ))")


@functools.lru_cache(maxsize=64)
def _after(indentation: str) -> re.Pattern[str]:
    """Return a pattern of the line where another statement may begin: not of what closes brackets, nor a comment."""
    return re.compile(rf"\n(?={indentation}[^\s#)\]}}])")


def _placed(tree: ast.Module, cuts: Cuts) -> Placed:
    """Put functions where `pass` stands for them, in a module and in its classes; return those that have a place."""
    placed: Placed = {}
    _place(tree.body, cuts, placed)
    return placed


def _place(body: list[ast.stmt], cuts: Cuts, placed: Placed) -> None:
    whole: list[ast.stmt] = []
    for statement in body:
        if type(statement) is ast.Pass and statement.lineno in cuts:
            for line, cut in cuts[statement.lineno]:
                before = line - cut.begins
                copy = _copy(cut, before)
                placed[id(copy)] = cut, before
                whole.append(copy)
            continue
        if type(statement) is ast.ClassDef:
            _place(statement.body, cuts, placed)
        whole.append(statement)
    body[:] = whole


def _copy(cut: Body, before: int) -> Function:
    """Return a function of its own with the same parts, so many lines below."""
    node = cut.node
    decorators = [*node.decorator_list]
    return type(node)(
        node.name,
        node.args,
        node.body,
        decorators,
        node.returns,
        None,
        lineno=node.lineno + before,
        end_lineno=cut.last_line + before,
    )
