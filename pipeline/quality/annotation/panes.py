"""The texts of an instance as an annotator reads and edits them, with what is hidden shown in place."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import accumulate
from typing import NamedTuple

from pipeline.core.vocabularies.changes import LibEvolutionEvalTag, VersiCodeTag
from pipeline.core.vocabularies.samples import Granularity
from pipeline.core.vocabularies.scores import Family
from pipeline.families.completions_and_migrations.masks import MASKS
from pipeline.lake.schema import Row
from pipeline.quality.annotation.view import Choice, Pane, Span
from pipeline.quality.flags.reviews import DESCRIPTION, EDITED

_MASK = re.compile("|".join(re.escape(text) for text in MASKS.values()))


class _Shown(NamedTuple):
    column: str
    label: str
    language: str = "python"


_SHOWN: Mapping[Family, Sequence[_Shown]] = {
    Family.COMPLETION: (
        _Shown("code", "Code, what is hidden marked"),
        _Shown("masked_code", "Code as it is shown, with masks"),
        _Shown("answer", "Answer"),
    ),
    Family.MIGRATION: (_Shown("source_code", "Code to migrate"), _Shown("target_code", "Code after migration")),
    Family.BLOCK_COMPLETION: (
        _Shown("code", "Code, what is hidden marked"),
        _Shown("masked_code", "Code as it is shown, with masks"),
        _Shown("answer", "Answer"),
    ),
    Family.CONTROLLED: (_Shown("left_context", "Prompt"), _Shown("hint", "Hint"), _Shown("reference_call", "Answer")),
    Family.PROBLEM: (
        _Shown("problem", "Problem", "text"),
        _Shown("starting_code", "Starting code"),
        _Shown("solution", "Solution"),
        _Shown("test", "Visible test"),
        _Shown("hidden_tests", "Hidden tests"),
    ),
    Family.FUNCTION: (_Shown("code", "Program"), _Shown("tests", "Tests")),
    Family.REPOSITORY_TASK: (
        _Shown("functionality", "What it is to do", "text"),
        _Shown("arguments", "Arguments and result", "text"),
        _Shown("input_code", "Signature with the requirement"),
        _Shown("reference", "Reference"),
        _Shown("contexts_above", "File above"),
        _Shown("contexts_below", "File below"),
    ),
    Family.SCENE: (
        _Shown("contexts_above", "File above the cursor"),
        _Shown("middle", "What is to be written"),
        _Shown("contexts_below", "File below the cursor"),
    ),
}
_CONTEXT = 4000  # characters of a file that are shown above and below
_BETWEEN = frozenset(
    {tokenize.NEWLINE, tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
)
_TAGS = {
    "versicode_tag": ("VersiCode tag", VersiCodeTag),
    "libevolutioneval_tag": ("LibEvolutionEval tag", LibEvolutionEvalTag),
}


def panes_of(family: Family, row: Row, description: str | None) -> tuple[Pane, ...]:
    """Return the texts of an instance: its description first, where the family has one."""
    editable = EDITED[family]
    panes = []
    if DESCRIPTION in editable:
        panes.append(Pane(DESCRIPTION, "Description", description or "", "text", editable=True))
    for column, label, language in _SHOWN[family]:
        text = str(row[column] or "")
        if column == "contexts_above":
            text = end_of(text, _CONTEXT)
        elif column == "contexts_below" and len(text) > _CONTEXT:
            text = text[: text.rfind("\n", 0, _CONTEXT) + 1 or _CONTEXT]
        written_in = str(row.get("language", language)) if language == "python" else language
        version = str(row["target_version"] if column == "target_code" else row["version"])
        hidden = hidden_spans(row) if column == "code" and "masked_code" in row else ()
        panes.append(Pane(column, label, text, written_in, version, hidden, column in editable))
    return tuple(panes)


def end_of(code: str, length: int) -> str:
    """Return about the last `length` characters of code, from the beginning of a statement: no string is cut through.

    Where no statement begins there the last one that begins before is whole.
    """
    cut = len(code) - length
    if cut <= 0:
        return code
    lines = io.StringIO(code).readlines()
    offsets = [0, *accumulate(map(len, lines))]
    begins = [0]
    with suppress(tokenize.TokenError, SyntaxError):  # where the cursor stands the code ends in the middle
        fresh = True
        for token in tokenize.generate_tokens(iter(lines).__next__):
            if fresh and token.type not in _BETWEEN:
                begins.append(offsets[token.start[0] - 1])
            if token.type not in _BETWEEN or token.type == tokenize.NEWLINE:
                fresh = token.type == tokenize.NEWLINE
    return code[next((begin for begin in begins if begin >= cut), begins[-1]) :]


def compared(family: Family) -> tuple[str, str] | None:
    """Return the names of the panes to be shown side by side."""
    return ("source_code", "target_code") if family == Family.MIGRATION else None


def choices_of(family: Family, row: Row, versions: Sequence[str]) -> tuple[Choice, ...]:
    """Return the fields of an instance whose values are given: tags, and the version, of those with an environment."""
    choices = []
    for name in EDITED[family]:
        if name in _TAGS:
            label, term = _TAGS[name]
            choices.append(Choice(name, label, str(row[name]), tuple(str(value) for value in term)))
        elif name == "version":
            options = tuple(dict.fromkeys([*versions, row["version"]]))
            choices.append(Choice(name, "Version", row["version"], options))
    return tuple(choices)


def hidden_spans(row: Row) -> tuple[Span, ...]:
    """Return the spans of `code` that the masks of `masked_code` hide; none where the two do not fit together."""
    level = Granularity(row.get("granularity", Granularity.BLOCK))
    code, masked = row["code"], row["masked_code"]
    spans: list[Span] = []
    at = place = 0
    for found in _MASK.finditer(masked):
        at += found.start() - place
        hidden = row["core_token"] if found[0] == MASKS[Granularity.TOKEN] else row["answer"]
        hidden = hidden if found[0] in {MASKS[level], MASKS[Granularity.TOKEN]} else found[0]
        if not code.startswith(hidden, at):
            return ()
        spans.append((at, at + len(hidden)))
        at, place = at + len(hidden), found.end()
    return tuple(spans)
