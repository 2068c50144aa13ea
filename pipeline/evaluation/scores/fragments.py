"""Parse predictions, which are fragments of code, by completing them to programs.

A prediction may be a line from the middle of a function, a block whose first line lost its indentation, or the header
of a statement without its body. Chat models put it into a Markdown code block, as GitChameleon's prompts require.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from pipeline.core.vocabularies.samples import Granularity
from pipeline.corpus.usages.text import parse_program

_MARGIN = re.compile(r"\n([ \t]+)(?=\S)")
_MARGINS = 4
# The statement that a fragment with this beginning continues; a name such as `excepting` is no such beginning.
_OPENERS = ((re.compile(r"(elif|else)\b"), "if x: pass"), (re.compile(r"(except|finally)\b"), "try: pass"))
_CASE = re.compile(r"case\b")


def parse_fragment(code: str) -> ast.Module | None:
    """Parse statements at any indentation, or the header of a compound statement; None where they are not valid.

    The result may be wrapped in further statements, which have no calls and no attributes.
    """
    for attempt in _attempts(code.strip("\n").rstrip()):
        if (tree := parse_program(attempt)) is not None:
            return tree
    return None


def _attempts(text: str) -> Iterator[str]:
    """Yield the programs that a fragment may be a part of; nothing of an empty one."""
    if not text:
        return
    flush = _flush(text)
    yield flush
    if flush.endswith(":"):
        yield f"{flush} pass"
    if "\n" in flush:
        yield from _hanging(flush)
    yield from _continued(flush)


def _flush(text: str) -> str:
    """Take the indentation of the first line off every line."""
    margin = len(text) - len(text.lstrip(" \t"))
    if not margin or "\n" not in text:
        return text[margin:]
    blank = text[:margin]
    return "\n".join(line[margin:] if line.startswith(blank) else line for line in text.split("\n"))


def _hanging(text: str) -> Iterator[str]:
    """Indent the first line as one of the next: text completed at a cursor has no indentation in its first line."""
    opener = _opener(text)
    for margin in sorted({match[1] for match in _MARGIN.finditer(text)}, key=len)[:_MARGINS]:
        before = f"{margin}{opener}\n" if opener else ""
        yield f"if x:\n{before}{margin}{text}"


def _continued(text: str) -> Iterator[str]:
    """Put a matching statement before `else:` and similar headers, and a function after a decorator."""
    body = f"{text} pass" if text.endswith(":") else text
    if opener := _opener(text):
        yield f"{opener}\n{body}"
    elif _CASE.match(text):
        yield "match x:\n" + "\n".join(f" {line}" for line in body.split("\n"))
    if text.startswith("@") or "\n@" in text:
        yield f"{text}\ndef f(): pass"


def _opener(text: str) -> str | None:
    """Return the statement that a fragment continues, if it does."""
    return next((opener for begins, opener in _OPENERS if begins.match(text)), None)


_FENCE = "```"
# Of an answer that was cut off the end is missing.
_BLOCK = re.compile(r"^ {0,3}```[^`\n]*\n(.*?)(?:^ {0,3}```[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)


def unfenced(sample: str) -> str:
    """Return what stands in the last code block of a sample; the sample itself if it has none, or is code as it stands.

    The last one, since reasoning comes before the answer (GitChameleon 2.0, 2507.12367, figure 17).
    """
    if _FENCE not in sample:
        return sample
    blocks = _BLOCK.findall(sample.replace("\r\n", "\n"))
    return blocks[-1] if blocks and parse_fragment(sample) is None else sample


_EMPHASIS = ("**", "`", "**")


def extracted(sample: str, granularity: str | None) -> str:
    """Return the code of a sample; of a token also without inline code and bold around the whole answer."""
    code = unfenced(sample)
    if granularity != Granularity.TOKEN:
        return code
    token = code.strip()
    for mark in _EMPHASIS:
        if token.startswith(mark) and token.endswith(mark) and len(token) > 2 * len(mark):
            token = token[len(mark) : -len(mark)].strip()
    return token
