"""The file that an agent edits: as it begins, with an answer in it, and the answer that is in it afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.samples import Granularity
from pipeline.evaluation.scores.filling import block_at, body_in
from pipeline.families.completions_and_migrations.masks import MASKS, unmask

if TYPE_CHECKING:  # verifiers of exported tasks do not have it
    from pipeline.lake.rows import AnyRow

_MASKED = (Family.COMPLETION, Family.FUNCTION)


def beginning(family: Family, row: AnyRow) -> str | None:
    """Return the file as an agent gets it; None where there is none: a migration is written anew."""
    if family in _MASKED:
        return str(row["masked_code"])
    return str(row["starting_code"]) if family is Family.PROBLEM else None


def answered(family: Family, row: AnyRow, answer: str) -> str:
    """Return the file with an answer in it."""
    if family in _MASKED:
        granularity = Granularity(row["granularity"])
        return unmask(row["masked_code"], granularity, answer, answer if granularity == "token" else row["core_token"])
    return f"{beginning(family, row) or ''}{answer}"


def answer_in(family: Family, row: AnyRow, text: str) -> str:
    """Return the answer in a file: what stands in place of the mask, or after the starting code.

    Where the rest of the file has changed, it is the whole file. Other masks than that of a line or block may be left.
    """
    if family not in _MASKED:
        return text.removeprefix(beginning(family, row) or "")
    masked_code, granularity = row["masked_code"], Granularity(row["granularity"])
    # Editors add or drop the newline at the end.
    for whole, masked in ((text, masked_code), (text.rstrip("\n"), masked_code.rstrip("\n"))):
        answer = _name(masked, whole) if granularity is Granularity.TOKEN else _between(masked, whole, row)
        if answer is not None:
            return answer
    return text


def answered_in(family: Family, row: AnyRow, text: str, answer: str) -> str:
    """Return the agent's copy of a file of a project with an answer, or what it begins with, in its place."""
    if family is Family.SCENE:
        return f"{row['prefix']}{answer}{row['suffix']}"
    return body_in(text, answer, (row["body_first_line"], row["body_last_line"]))


def whole_file(text: str, prefix: str, suffix: str, test_suffix: str, *, is_body: bool) -> str:
    """Return the file with which tests run, of the agent's file: a scene hides more of it than is to be written.

    Where more than the place of the cursor has changed, it is the agent's file. `is_body` is that of `block_at`.
    """
    for before, after in ((prefix, suffix), (prefix, suffix.rstrip("\n"))):
        own = text if after == suffix else text.rstrip("\n")
        if len(own) >= len(before) + len(after) and own.startswith(before) and own.endswith(after):
            answer = own[len(before) : len(own) - len(after)]
            if test_suffix != suffix:
                answer = block_at(prefix, answer, is_body=is_body)
            return f"{prefix}{answer}{test_suffix}"
    return text


def _between(masked: str, whole: str, row: AnyRow) -> str | None:
    for token in (MASKS[Granularity.TOKEN], row["core_token"]):
        before, _, after = masked.replace(MASKS[Granularity.TOKEN], token).partition(MASKS[row["granularity"]])
        # Whoever moves the first line takes the indentation before the mask along.
        for head in (before, before.rstrip(" \t")):
            if len(whole) >= len(head) + len(after) and whole.startswith(head) and whole.endswith(after):
                return whole[len(head) : len(whole) - len(after)]
    return None


def _name(masked: str, whole: str) -> str | None:
    """Return the one name in place of all masks of a name."""
    parts = masked.split(MASKS[Granularity.TOKEN])
    length, rest = divmod(len(whole) - sum(map(len, parts)), max(1, len(parts) - 1))
    name = whole[len(parts[0]) : len(parts[0]) + max(0, length)]
    return name if not rest and length >= 0 and name.join(parts) == whole else None
