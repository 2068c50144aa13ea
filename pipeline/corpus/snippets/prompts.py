"""Interactive examples, as the standard library's doctest reads them."""

from __future__ import annotations

import doctest
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pipeline.lake.rows import SnippetCheck

# By name, since pytest and others add their own to doctest's table while they run.
_FLAGS = {
    name: getattr(doctest, name)
    for name in (
        "DONT_ACCEPT_TRUE_FOR_1",
        "DONT_ACCEPT_BLANKLINE",
        "NORMALIZE_WHITESPACE",
        "ELLIPSIS",
        "SKIP",
        "IGNORE_EXCEPTION_DETAIL",
    )
}
_DIRECTIVE = re.compile(r"#\s*doctest:\s*([^\n'\"]*)$")
_PROMPT = re.compile(r"\s*>>>")
_PARSER = doctest.DocTestParser()


@dataclass(frozen=True, slots=True)
class Group:
    """Statements that follow each other with no prose between: their lines, code and stated outputs."""

    start: int
    end: int
    code: str
    checks: tuple[SnippetCheck, ...]


def groups_of(lines: Sequence[str]) -> list[Group]:
    """Return the groups of interactive statements in a docstring, in order.

    A docstring that doctest refuses as a whole is read group by group; a group that it refuses is kept as code
    without outputs, for the caller to judge.
    """
    lines = [_without_foreign_options(line) for line in lines]
    try:
        examples = _PARSER.get_examples("\n".join(lines))
    except ValueError:
        return [group for start, end in _prompted(lines) for group in _read_alone(lines, start, end)]
    return list(_grouped(examples, lines))


def _grouped(examples: Iterable[doctest.Example], lines: Sequence[str], offset: int = 0) -> Iterator[Group]:
    run: list[doctest.Example] = []
    for example in examples:
        if run and any(line.strip() for line in lines[_end(run[-1]) : example.lineno]):
            yield _group(run, offset)
            run = []
        run.append(example)
    if run:
        yield _group(run, offset)


def _end(example: doctest.Example) -> int:
    return example.lineno + example.source.count("\n") + example.want.count("\n")


def _group(run: Sequence[doctest.Example], offset: int) -> Group:
    """Make a group; a statement that its author marks to be skipped is no part of the program."""
    executed = [example for example in run if not example.options.get(doctest.SKIP)]
    code = "".join(example.source for example in executed)
    return Group(run[0].lineno + offset, _end(run[-1]) + offset, code, tuple(_check(example) for example in executed))


def _check(example: doctest.Example) -> SnippetCheck:
    options = [
        name if example.options[flag] else f"-{name}" for name, flag in _FLAGS.items() if flag in example.options
    ]
    return {"statement": example.source, "expected": example.want or None, "options": sorted(options)}


def _without_foreign_options(line: str) -> str:
    """Take options out of a doctest directive that the standard library does not know, and would stumble over."""
    directive = _DIRECTIVE.search(line)
    if not directive:
        return line
    options = [option for option in directive[1].replace(",", " ").split() if option[1:] in _FLAGS]
    return line[: directive.start()] + (f"# doctest: {' '.join(options)}" if options else "").rstrip()


def _prompted(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield first line and end of each run of lines that begins with a prompt and ends at a blank line."""
    start: int | None = None
    for number, line in enumerate([*lines, ""]):
        if start is None and _PROMPT.match(line):
            start = number
        elif start is not None and not line.strip():
            yield start, number
            start = None


def _read_alone(lines: Sequence[str], start: int, end: int) -> Iterator[Group]:
    own = lines[start:end]
    try:
        yield from _grouped(_PARSER.get_examples("\n".join(own)), own, start)
    except ValueError:
        prompts = (re.match(r"\s*(?:>>>|\.\.\.) ?(.*)", line) for line in own)
        yield Group(start, end, "".join(f"{prompt[1]}\n" for prompt in prompts if prompt), ())
