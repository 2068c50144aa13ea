"""The program that a prediction makes of masked code."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from pipeline.instances import MASKS, unmask
from pipeline.lake import Row
from pipeline.scores.fragments import parse_program
from pipeline.terms import Granularity

_GRANULARITIES = {granularity.value: granularity for granularity in Granularity}


def filled(task: Row, sample: str) -> str:
    """Return the program of a completion with a sample where the mask is; other masks hide the core token.

    A sample may be indented as it would stand there, or as a text of its own, with or without its first line.
    """
    granularity = _GRANULARITIES[task["granularity"]]
    if granularity is Granularity.TOKEN:
        return unmask(task["masked_code"], granularity, "", sample.strip())
    margin = _margin(task["masked_code"], MASKS[granularity])
    programs = (unmask(task["masked_code"], granularity, text, task["core_token"]) for text in _shapes(sample, margin))
    first = next(programs)
    return first if parse_program(first) else next(filter(parse_program, programs), first)


def _margin(code: str, mask: str) -> str:
    """Return the blanks that stand before a mask on its line."""
    line = code[: code.index(mask)].rpartition("\n")[2]
    return line[: len(line) - len(line.lstrip())]


def _shapes(sample: str, margin: str) -> Iterator[str]:
    """Yield a sample as it may stand behind a margin, the likeliest first."""
    text = sample.strip("\n").rstrip()
    moved = textwrap.indent(textwrap.dedent(text), margin).removeprefix(margin)
    following = [line for line in text.split("\n")[1:] if line.strip()]
    shapes = [text.lstrip(" \t"), moved]
    yield from shapes if all(line.startswith(margin) for line in following) else reversed(shapes)


def body_in(text: str, body: str, lines: tuple[int, int]) -> str:
    """Return a file with some of its lines, from 1 and with both ends, replaced by a body (EvoCodeBench)."""
    kept, (first, last) = text.split("\n"), lines
    return "\n".join([*kept[: first - 1], body.removesuffix("\n"), *kept[last:]])
