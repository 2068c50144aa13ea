"""Masked code without its import statements."""

from __future__ import annotations

import io
import itertools
import tokenize
from collections.abc import Iterator, Sequence

from pipeline.core.errors import CodedError
from pipeline.families.completions_and_migrations.masks import MASKS

_STAND_IN = "mask__{}__"
_LAYOUT = {tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}

Tokens = Sequence[tokenize.TokenInfo]


class UnreadableCode(CodedError, ValueError):
    """The code cannot be split into tokens of Python."""

    code = "prompt_code_unreadable"


def without_imports(masked_code: str) -> str:
    """Return masked code without its import statements; lines without other statements are removed.

    The rest need not run: a function with nothing but imports has no body.

    Errors: UnreadableCode.
    """
    code = masked_code
    for granularity, mask in MASKS.items():
        code = code.replace(mask, _STAND_IN.format(granularity))
    lines = list(io.StringIO(code))
    for statements in reversed(list(_logical_lines(code))):
        remaining = [statement for statement in statements if statement[0].string not in ("import", "from")]
        if len(remaining) < len(statements):
            _replace(lines, statements, remaining)
    code = "".join(lines)
    for granularity, mask in MASKS.items():
        code = code.replace(_STAND_IN.format(granularity), mask)
    return code


def _logical_lines(code: str) -> Iterator[list[Tokens]]:
    """Yield logical lines as lists of simple statements; a compound header includes the rest of its line."""
    line: list[tokenize.TokenInfo] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(code).readline):
            if token.type == tokenize.NEWLINE:
                yield _statements(line)
                line = []
            elif token.type not in _LAYOUT:
                line.append(token)
    except (tokenize.TokenError, SyntaxError) as error:
        raise UnreadableCode(str(error)) from None


def _statements(line: Tokens) -> list[Tokens]:
    parts = itertools.groupby(line, lambda token: token.string == ";")
    return [list(tokens) for is_end, tokens in parts if not is_end]


def _replace(lines: list[str], statements: Sequence[Tokens], remaining: Sequence[Tokens]) -> None:
    """Replace the physical lines of a logical line by its remaining statements."""
    first, last = statements[0][0].start[0] - 1, statements[-1][-1].end[0] - 1
    indent = lines[first][: statements[0][0].start[1]]
    text = "; ".join(_text(lines, statement) for statement in remaining)
    lines[first : last + 1] = [f"{indent}{text}\n"] if remaining else []


def _text(lines: Sequence[str], statement: Tokens) -> str:
    (first, start), (last, end) = statement[0].start, statement[-1].end
    if first == last:
        return lines[first - 1][start:end]
    return "".join([lines[first - 1][start:], *lines[first : last - 1], lines[last - 1][:end]])
