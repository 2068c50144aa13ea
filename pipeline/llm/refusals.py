"""What a stage says of texts that a model was asked for and has not written: rejects and notes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from pipeline.core.vocabularies.review import RejectReason
from pipeline.lake.stage import Reject
from pipeline.llm.writers import WriterResult


def missing_text(key: str, written: WriterResult, detail: str) -> Reject:
    """Refuse a unit that has no text: a model may still write it (DRAFT_WAITING), or nobody can (NO_TEXT).

    An exception that was raised at the request is its INTERNAL_ERROR.
    """
    if written.failure is not None:
        return replace(written.failure, key=key)
    if written.refusal is not None and written.refusal.waiting:
        return Reject(key, RejectReason.DRAFT_WAITING, written.refusal.problem)
    return Reject(key, RejectReason.NO_TEXT, detail)


def notes_of(results: Iterable[tuple[str, WriterResult]]) -> Iterator[Reject]:
    """Note the texts, by the key of their unit, that stand for want of a better one, or of any.

    Notes: DRAFT_REFUSED, where nothing that a model wrote was accepted; DRAFT_WAITING, where a text stands until it
    answers.
    """
    for key, written in results:
        if (refusal := written.refusal) is None:
            continue
        if not refusal.waiting:
            yield Reject(key, RejectReason.DRAFT_REFUSED, refusal.problem)
        elif written.text is not None:
            yield Reject(key, RejectReason.DRAFT_WAITING, refusal.problem)
