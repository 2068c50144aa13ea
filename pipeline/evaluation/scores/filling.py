"""Insert a prediction into masked code, a problem's starting code, or a file of a project."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
from typing import TypedDict

from pipeline.core.vocabularies.samples import Granularity
from pipeline.corpus.snippets.names import bound_names, syntax_error
from pipeline.corpus.usages.text import parse_program
from pipeline.families.completions_and_migrations.masks import MASKS, unmask


class MaskedCode(TypedDict):
    """What an answer is put into: code with a mask, as published completions and functions have it."""

    granularity: str
    masked_code: str
    core_token: str


_CLAUSES = {
    **dict.fromkeys(("elif", "else"), "{margin}if 1:\n{margin} pass\n"),
    **dict.fromkeys(("except", "finally"), "{margin}try:\n{margin} pass\n"),
    "case": "match 1:\n",
}
"""The statement that a clause needs above it to parse, by the first word of the clause."""

_INDENTATION = "    "
_DEFINITIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_GRANULARITIES = {granularity.value: granularity for granularity in Granularity}


def filled(task: MaskedCode, sample: str) -> str:
    """Return the program of a completion with a sample in place of the mask; other masks hide the core token.

    A sample may be indented for its place or for itself, with or without its first line. For a block it may be the
    whole program, which then has all top-level definitions of the code before the mask.
    """
    granularity = _GRANULARITIES[task["granularity"]]
    if granularity is Granularity.TOKEN:
        return unmask(task["masked_code"], granularity, "", sample.strip())
    if granularity is Granularity.BLOCK:
        sample = inside(task, sample)
        defined = _defined(f"{task['masked_code'].partition(MASKS[granularity])[0]}pass\n")
        if defined and defined <= _defined(sample):
            return sample
    margin = _margin(task["masked_code"], MASKS[granularity])
    programs = [unmask(task["masked_code"], granularity, text, task["core_token"]) for text in _shapes(sample, margin)]
    return next(filter(parse_program, programs), programs[0])


def inside(task: MaskedCode, sample: str) -> str:
    """Return a block's sample without the code around the mask, where the sample repeats that code."""
    masked = task["masked_code"].replace(MASKS[Granularity.TOKEN], task["core_token"])
    before, _, after = (part.strip() for part in masked.partition(MASKS[Granularity.BLOCK]))
    text = sample.strip("\n").rstrip()
    if not before or not text.startswith(before):
        return sample
    return text.removeprefix(before).removesuffix(after).strip("\n").rstrip()


def _defined(program: str) -> set[str]:
    """Return the top-level functions and classes of a program; none where it is not valid."""
    tree = parse_program(program)
    return {node.name for node in tree.body if isinstance(node, _DEFINITIONS)} if tree else set()


def _margin(code: str, mask: str) -> str:
    """Return the indentation of a mask's line."""
    return _blanks(code[: code.index(mask)].rpartition("\n")[2])


def _shapes(sample: str, margin: str) -> Iterator[str]:
    """Yield a sample in its possible indentations after a margin, the most likely first."""
    text = sample.strip("\n").rstrip()
    moved = textwrap.indent(textwrap.dedent(text), margin).removeprefix(margin)
    following = [line for line in text.split("\n")[1:] if line.strip()]
    shapes = [text.lstrip(" \t"), moved]
    yield from shapes if all(line.startswith(margin) for line in following) else reversed(shapes)


def solved(starting_code: str, sample: str) -> str:
    """Return the program of a solution, which continues the starting code or repeats it.

    GitChameleon 2.0 prompts for the whole program (2507.12367, figure 17) and stores the continuation. A body with
    another indentation is moved to that of the function at the end of the starting code. A sample that is a program
    itself is such a body if it lacks a definition of that function.
    """
    program = f"{starting_code}{sample}"
    margin = _body_margin(starting_code)
    bodies = [f"{starting_code}{margin}{shape}" for shape in _shapes(sample, margin)]
    name = _without_body(starting_code)
    if name is not None and _is_program(sample) and name not in bound_names(sample):
        programs = [*bodies, program, sample]
    else:
        programs = [program, sample, *bodies]
    return next(filter(_is_program, programs), program)


def _without_body(starting_code: str) -> str | None:
    """Return the top-level definition that ends the starting code if the innermost definition in it lacks a body.

    A docstring alone is no body.
    """
    tree = parse_program(f"{starting_code}{_body_margin(starting_code)}pass\n")
    last = tree.body[-1] if tree else None
    if not isinstance(last, _DEFINITIONS):
        return None
    innermost = last
    while isinstance(innermost.body[-1], _DEFINITIONS):
        innermost = innermost.body[-1]
    statements = len(innermost.body) - (ast.get_docstring(innermost) is not None)
    return last.name if statements == 1 else None


def _body_margin(starting_code: str) -> str:
    """Return the indentation of a statement that continues the starting code; empty at the level of the module."""
    last = starting_code.rstrip().rpartition("\n")[2]
    return _blanks(last) + (_INDENTATION if last.endswith(":") else "")


def _is_program(text: str) -> bool:
    """Say whether a text compiles: the parser takes `return` and `yield` outside of a function too."""
    return syntax_error(text) is None


def beyond(starting_code: str, sample: str) -> str:
    """Return a solution without the starting code, where it begins with it."""
    return sample.strip("\n").removeprefix(starting_code.strip("\n"))


def body_in(text: str, body: str, lines: tuple[int, int]) -> str:
    """Return a file with some of its lines, from 1 and with both ends, replaced by a body (EvoCodeBench).

    A body with another indentation is moved to that of the old one.
    """
    file_lines, (first, last) = text.split("\n"), lines
    old = next((line for line in file_lines[first - 1 : last] if _is_code(line)), "")
    return "\n".join([*file_lines[: first - 1], _moved(body, _blanks(old)), *file_lines[last:]])


def block_at(prefix: str, sample: str, *, is_body: bool) -> str:
    """Return the block at the beginning of a sample that continues a file at a cursor, without what follows it.

    Where the rest of the file is hidden (scenes 1.2 and 1.3 of Codev-Bench), an answer that goes on would be beside
    the code that is hidden. `is_body`: the block is all that is indented as the cursor is, as the body of a
    function; else one statement with its clauses, or one clause. What never parses is returned as it is.
    """
    margin = prefix.rpartition("\n")[2]
    if margin.strip():
        return sample
    lines = f"{margin}{sample}".split("\n")
    begins = next((line.split(maxsplit=1)[0] for line in lines if _is_code(line)), "")
    clause = next((word for word in _CLAUSES if re.match(rf"{word}\b", begins)), None)
    above = _CLAUSES[clause].format(margin=margin) if clause else ""
    outer = "if 1:\n" if margin and clause != "case" else ""
    for end in range(1, len(lines)):
        following = next((line for line in lines[end:] if _is_code(line)), "")
        indentation = _blanks(following)
        if not following or len(indentation) > len(margin) or (is_body and len(indentation) == len(margin)):
            continue
        goes_on = clause is None and following.startswith(margin) and _is_clause(following)
        if not goes_on and parse_program(f"{outer}{above}{chr(10).join(lines[:end])}\n"):
            return "\n".join(lines[:end]).removeprefix(margin).rstrip()
    return sample


def _is_clause(line: str) -> bool:
    return any(re.match(rf"{word}\b", line.strip()) for word in _CLAUSES if word != "case")


def _moved(body: str, margin: str) -> str:
    begins = next((line for line in body.split("\n") if _is_code(line)), None)
    if begins is None or _blanks(begins) == margin:
        return body.removesuffix("\n")
    shapes = [f"{margin}{shape}" for shape in _shapes(body, margin)]
    return next((shape for shape in shapes if parse_program(f"if True:\n{shape}\n")), shapes[0])


def _is_code(line: str) -> bool:
    return not line.lstrip().startswith("#") and not line.isspace() and line != ""


def _blanks(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]
