"""Similarity of a line or block to its reference: identifier sequence match and prefix match."""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Sequence
from itertools import zip_longest

# Good for text that does not parse, which predictions often are: strings, numbers, names, and any other sign alone.
_TOKEN = re.compile(r"""'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|\w+(?:\.\d+)?|[^\w\s]""")
_NAME = re.compile(r"[^\W\d]\w*")
_KEYWORDS = frozenset(keyword.kwlist)


def identifier_sequence_match(prediction: str, reference: str) -> float:
    """Return ISM: how much of the reference's sequence of identifiers the prediction begins with, 0 to 1.

    Identifiers are names that are no keywords, outside of strings (Agrawal et al. 2023, 2306.10763, section 4). Of a
    block it is the mean over the reference's lines (VersiCode, 2406.07411, section 4.1).
    """
    return _by_line(prediction, reference, _identifiers)


def prefix_match(prediction: str, reference: str) -> float:
    """Return PM: how much of the reference's sequence of tokens the prediction begins with, 0 to 1.

    Sources and blocks as for `identifier_sequence_match`.
    """
    return _by_line(prediction, reference, _tokens)


def _tokens(line: str) -> list[str]:
    return _TOKEN.findall(line)


def _identifiers(line: str) -> list[str]:
    return [token for token in _tokens(line) if _NAME.fullmatch(token) and token not in _KEYWORDS]


def _by_line(prediction: str, reference: str, parts: Callable[[str], list[str]]) -> float:
    predicted = [line for line in prediction.splitlines() if line.strip()]
    wanted = [line for line in reference.splitlines() if line.strip()]
    pairs = zip_longest(predicted[: len(wanted)], wanted, fillvalue="")
    shares = [share for one, other in pairs if (share := _begun(parts(one), parts(other))) is not None]
    return sum(shares) / len(shares) if shares else float(not prediction.strip())


def _begun(predicted: Sequence[str], wanted: Sequence[str]) -> float | None:
    """Return the share of the wanted that the predicted begin with; None where nothing is wanted."""
    if not wanted:
        return None
    same = next((i for i, (one, other) in enumerate(zip(predicted, wanted, strict=False)) if one != other), None)
    return (min(len(predicted), len(wanted)) if same is None else same) / len(wanted)
