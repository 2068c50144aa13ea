"""A file of predictions: one JSON object a line, each read by itself, so that a bad one stops no other."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO

import msgspec

from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.scores import Exclusion
from pipeline.evaluation.scores.rules import ScoreRules

_CHUNK = 1 << 20
_HEAD_BYTES = 4096


class Prediction(msgspec.Struct, frozen=True):
    """A model's answer to one task: samples, or documents with the best first.

    `family` is required where tasks of several families share the id.
    """

    id: str
    completions: Sequence[str] | None = None
    documents: Sequence[str] | None = None
    family: Family | None = None


@dataclass(frozen=True, slots=True)
class Excluded:
    """A line of the predictions, from 1, or a task without a line, that is left out of a figure, and why."""

    reason: Exclusion
    detail: str
    id: str | None = None
    line: int | None = None


def read_predictions(file: IO[bytes], rules: ScoreRules) -> Iterator[tuple[int, Prediction | Excluded]]:
    """Yield the prediction of each line that is not blank, with its number from 1; overlong samples are included."""
    decoder = msgspec.json.Decoder(Prediction)
    longest = rules.line_mib << 20
    number = 0
    while line := file.readline(longest + 1):
        number += 1
        if len(line) > longest:
            _skip(file, line)
            problem = f"longer than {rules.line_mib} MiB; leave out what no scorer reads"
            id_ = _id_in(line[:_HEAD_BYTES])
            yield number, Excluded(Exclusion.LINE_TOO_LONG, problem, id_, number)
            continue
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        if not line.isspace():
            yield number, _checked(_decoded(decoder, line, number), number, rules)


def _decoded(decoder: msgspec.json.Decoder[Prediction], line: bytes, number: int) -> Prediction | Excluded:
    try:
        return decoder.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        families = f"; the families are {', '.join(Family)}" if str(error).endswith("`$.family`") else ""
        problem = f'{error}{families}; write one object {{"id": …, "completions": [text, …]}} on each line'
        return Excluded(Exclusion.NOT_A_PREDICTION, problem, _id_in(line[:_HEAD_BYTES]), number)


def _checked(answer: Prediction | Excluded, number: int, rules: ScoreRules) -> Prediction | Excluded:
    if isinstance(answer, Excluded):
        return answer
    if (answer.completions is None) == (answer.documents is None):
        problem = "neither completions nor documents" if answer.completions is None else "completions and documents"
        return Excluded(Exclusion.NOT_A_PREDICTION, f"{problem}; give one of them", answer.id, number)
    samples = answer.completions if answer.completions is not None else answer.documents
    if not samples:
        return Excluded(Exclusion.NO_SAMPLES, 'an empty list; a model that said nothing has said ""', answer.id, number)
    if len(samples) > rules.samples:
        problem = f"{len(samples)} samples, more than {rules.samples} (curation_rules/scores.yaml)"
        return Excluded(Exclusion.TOO_MANY_SAMPLES, problem, answer.id, number)
    return answer


def _skip(file: IO[bytes], part: bytes) -> None:
    """Read on to the end of a line."""
    while part and not part.endswith(b"\n"):
        part = file.readline(_CHUNK)


def _id_in(head: bytes) -> str | None:
    """Return the id of a line that cannot be read as a whole, where it stands first."""
    before, colon, after = head.decode("utf-8", "replace").partition(":")
    if not colon or before.strip("\ufeff \t{") != '"id"':
        return None
    try:
        value, _ = json.JSONDecoder().raw_decode(after.lstrip())
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, str) else None
