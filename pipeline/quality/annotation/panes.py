"""The texts of an instance as an annotator reads and edits them, with what is hidden shown in place."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Sequence
from contextlib import suppress
from itertools import accumulate

from pipeline.core.vocabularies.changes import LibEvolutionEvalTag, VersiCodeTag
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.samples import Granularity
from pipeline.families.all_families import BY_NAME
from pipeline.families.completions_and_migrations.masks import MASKS
from pipeline.families.family import DESCRIPTION
from pipeline.lake.rows import AnyRow
from pipeline.quality.annotation.view import Choice, Pane, Span

_MASK = re.compile("|".join(re.escape(text) for text in MASKS.values()))


_CONTEXT = 4000  # characters of a file that are shown above and below
_BETWEEN = frozenset(
    {tokenize.NEWLINE, tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
)
_TAGS = {
    "versicode_tag": ("VersiCode tag", VersiCodeTag),
    "libevolutioneval_tag": ("LibEvolutionEval tag", LibEvolutionEvalTag),
}


def panes_of(family: Family, row: AnyRow, description: str | None) -> tuple[Pane, ...]:
    """Return the texts of an instance: its description first, where the family has one."""
    declared = BY_NAME[family]
    editable = declared.edited
    panes = []
    if DESCRIPTION in editable:
        panes.append(Pane(DESCRIPTION, "Description", description or "", "text", editable=True))
    for pane in declared.panes:
        column, language = pane.column, pane.language
        value = row[column]
        text = "\n".join(value) if isinstance(value, list) else str(value or "")
        if column == "contexts_above":
            text = end_of(text, _CONTEXT)
        elif column == "contexts_below" and len(text) > _CONTEXT:
            text = text[: text.rfind("\n", 0, _CONTEXT) + 1 or _CONTEXT]
        written_in = str(row.get("language", language)) if language == "python" else language
        version = str(row["target_version"] if column == "target_code" else row["version"])
        if "compatible" in row:  # it may not run in the release of its change
            version = str(row["compatible"][-1])
        hidden = hidden_spans(row) if column == "code" and "masked_code" in row else ()
        panes.append(Pane(column, pane.label, text, written_in, version, hidden, column in editable))
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


def choices_of(family: Family, row: AnyRow, versions: Sequence[str]) -> tuple[Choice, ...]:
    """Return the fields of an instance whose values are given: tags, and the version, of those with an environment."""
    choices = []
    for name in BY_NAME[family].edited:
        if name in _TAGS:
            label, term = _TAGS[name]
            choices.append(Choice(name, label, str(row[name]), tuple(str(value) for value in term)))
        elif name == "version":
            options = tuple(dict.fromkeys([*versions, row["version"]]))
            choices.append(Choice(name, "Version", row["version"], options))
    return tuple(choices)


def hidden_spans(row: AnyRow) -> tuple[Span, ...]:
    """Return the spans of `code` that the masks of `masked_code` hide; none where the two do not fit together."""
    level = Granularity(row.get("granularity", Granularity.BLOCK))
    code, masked = row["code"], row["masked_code"]
    spans: list[Span] = []
    at = place = 0
    for match in _MASK.finditer(masked):
        at += match.start() - place
        hidden = row["core_token"] if match[0] == MASKS[Granularity.TOKEN] else row["answer"]
        hidden = hidden if match[0] in {MASKS[level], MASKS[Granularity.TOKEN]} else match[0]
        if not code.startswith(hidden, at):
            return ()
        spans.append((at, at + len(hidden)))
        at, place = at + len(hidden), match.end()
    return tuple(spans)
