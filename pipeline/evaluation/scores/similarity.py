"""Similarity of a line or block to its reference: identifier sequence match and prefix match."""

from __future__ import annotations

import functools
import keyword
import re
from collections.abc import Sequence
from itertools import zip_longest

from pipeline.evaluation.scores.reading import REMEMBERED

# For text that may not parse, as predictions: strings, comments, numbers, names, operators.
_TOKEN = re.compile(
    r"""(?:\b[bfruBFRU]{1,2})?(?:'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*") | \#.* | \w+(?:\.\d+)?
    | (?:\*\*|//|<<|>>|[-+*/%@&|^=!<>:])= | \*\* | // | << | >> | -> | \.{3} | [^\w\s]""",
    re.VERBOSE,
)
_KEYWORDS = frozenset(keyword.kwlist)

Parts = tuple[str, ...]
_NO_LINE: tuple[Parts, Parts] = ((), ())


def identifier_sequence_match(prediction: str, reference: str) -> float:
    """Return ISM: the share, 0 to 1, of the reference's sequence of identifiers that the prediction begins with.

    Identifiers are names that are no keywords, outside of strings and comments (Agrawal et al. 2023, 2306.10763,
    section 4). Of a block it is the mean over the reference's lines (VersiCode, 2406.07411, section 4.1).
    """
    return _by_line(prediction, reference, 1)


def prefix_match(prediction: str, reference: str) -> float:
    """Return PM: the share, 0 to 1, of the reference's sequence of tokens that the prediction begins with.

    Sources and blocks as for `identifier_sequence_match`.
    """
    return _by_line(prediction, reference, 0)


@functools.lru_cache(REMEMBERED)
def _lines(code: str) -> tuple[tuple[Parts, Parts], ...]:
    """Return the tokens and the identifiers of each line that has more than blanks and comments."""
    lines = [_TOKEN.findall(line) for line in code.splitlines() if line and not line.isspace()]
    without_comments = [[token for token in tokens if token[0] != "#"] for tokens in lines]
    return tuple((tuple(tokens), tuple(filter(_is_identifier, tokens))) for tokens in without_comments if tokens)


def _is_identifier(token: str) -> bool:
    return token.isidentifier() and token not in _KEYWORDS


def _by_line(prediction: str, reference: str, parts: int) -> float:
    predicted, expected = _lines(prediction), _lines(reference)
    pairs = zip_longest(predicted[: len(expected)], expected, fillvalue=_NO_LINE)
    shares = [_begun(line[parts], other[parts]) for line, other in pairs if other[parts]]
    return sum(shares) / len(shares) if shares else float(predicted == expected)


def _begun(predicted: Sequence[str], expected: Sequence[str]) -> float:
    """Return the share of the expected tokens that the prediction begins with."""
    if predicted == expected:
        return 1.0
    same = 0
    for token, expected_token in zip(predicted, expected, strict=False):
        if token != expected_token:
            break
        same += 1
    return same / len(expected)
