"""Similarity of a line or block to its reference: identifier sequence match and prefix match."""

from __future__ import annotations

import functools
import keyword
import re
from collections.abc import Iterable, Sequence
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


def published_sequence_match(prediction: str, reference: str) -> float:
    """Return ISM as VersiCode's published code has it, 0 to 1, beside the definition of its paper.

    Of all pairs of names, keywords too, one of each side, the first with the longest common prefix in characters
    counts: that prefix is divided by the longer name. Any name in common therefore gives 1.
    """
    predicted, expected = (
        dict.fromkeys(name for line in _names(code) for name in line) for code in (prediction, reference)
    )
    return _best_pair(predicted, expected)


def published_prefix_match(prediction: str, reference: str) -> float:
    """Return PM as VersiCode's published code has it, 0 to 1, beside the definition of its paper.

    As `published_sequence_match`, with lines in the place of names, and names in that of characters.
    """
    return _best_pair(dict.fromkeys(_names(prediction)), dict.fromkeys(_names(reference)))


def identifier_f1(prediction: str, reference: str) -> float | None:
    """Return F1, 0 to 1, of the sets of identifiers, arguments too, None where the reference has none.

    The published code of LibEvolutionEval averages over all identifiers of a run (micro), this over tasks (macro).
    """
    predicted, expected = ({name for line in _lines(code) for name in line[1]} for code in (prediction, reference))
    if not expected:
        return None
    return 2 * len(predicted & expected) / (len(predicted) + len(expected))


def _best_pair(predicted: Iterable[Sequence[str]], expected: Iterable[Sequence[str]]) -> float:
    """Return the longest common prefix of any pair as a share of the longer side; of equal ones the first counts."""
    longest, share, others = 0, 0.0, list(predicted)
    for one in expected:
        for other in others:
            if min(len(one), len(other)) <= longest:
                continue
            same = next(
                (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
            )
            if same > longest:
                longest, share = same, same / max(len(one), len(other))
    return share


@functools.lru_cache(REMEMBERED)
def _names(code: str) -> tuple[Parts, ...]:
    """Return the names of each line, keywords too."""
    return tuple(tuple(token for token in line if token.isidentifier()) for line, _ in _lines(code))


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
