"""Similarity of a line or block to its reference: identifier sequence match and prefix match."""

from __future__ import annotations

import functools
import keyword
import re
from collections.abc import Sequence
from itertools import zip_longest

from pipeline.evaluation.scores.reading import REMEMBERED

# Good for text that does not parse, which predictions often are: strings, comments, numbers, names, signs.
_TOKEN = re.compile(
    r"""(?:\b[bfruBFRU]{1,2})?(?:'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*") | \#.* | \w+(?:\.\d+)?
    | (?:\*\*|//|<<|>>|[-+*/%@&|^=!<>:])= | \*\* | // | << | >> | -> | \.{3} | [^\w\s]""",
    re.VERBOSE,
)
_KEYWORDS = frozenset(keyword.kwlist)

Parts = tuple[str, ...]
_NO_LINE: tuple[Parts, Parts] = ((), ())


def identifier_sequence_match(prediction: str, reference: str) -> float:
    """Return ISM: how much of the reference's sequence of identifiers the prediction begins with, 0 to 1.

    Identifiers are names that are no keywords, outside of strings and comments (Agrawal et al. 2023, 2306.10763,
    section 4). Of a block it is the mean over the reference's lines (VersiCode, 2406.07411, section 4.1).
    """
    return _by_line(prediction, reference, 1)


def prefix_match(prediction: str, reference: str) -> float:
    """Return PM: how much of the reference's sequence of tokens the prediction begins with, 0 to 1.

    Sources and blocks as for `identifier_sequence_match`.
    """
    return _by_line(prediction, reference, 0)


@functools.lru_cache(REMEMBERED)
def _lines(code: str) -> tuple[tuple[Parts, Parts], ...]:
    """Return the tokens and the identifiers of each line that has more than blanks and comments."""
    lines = [_TOKEN.findall(line) for line in code.splitlines() if line and not line.isspace()]
    told = [[token for token in tokens if token[0] != "#"] for tokens in lines]
    return tuple((tuple(tokens), tuple(filter(_is_identifier, tokens))) for tokens in told if tokens)


def _is_identifier(token: str) -> bool:
    return token.isidentifier() and token not in _KEYWORDS


def _by_line(prediction: str, reference: str, parts: int) -> float:
    predicted, wanted = _lines(prediction), _lines(reference)
    pairs = zip_longest(predicted[: len(wanted)], wanted, fillvalue=_NO_LINE)
    shares = [_begun(one[parts], other[parts]) for one, other in pairs if other[parts]]
    return sum(shares) / len(shares) if shares else float(predicted == wanted)


def _begun(predicted: Sequence[str], wanted: Sequence[str]) -> float:
    """Return the share of the wanted that the predicted begin with."""
    if predicted == wanted:
        return 1.0
    same = 0
    for one, other in zip(predicted, wanted, strict=False):
        if one != other:
            break
        same += 1
    return same / len(wanted)
