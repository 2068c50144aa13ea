"""An edit is run again in its pinned environment before it counts, as the pipeline would run it."""

from __future__ import annotations

from typing import Protocol

from sqlalchemy import select

from pipeline.core.vocabularies.annotation import DecisionKind, QueueStatus
from pipeline.quality.annotation.database import decisions, samples, views
from pipeline.quality.annotation.decisions import DecisionError, add_validation
from pipeline.quality.annotation.entries import Validation
from pipeline.quality.annotation.store import Store
from pipeline.quality.annotation.view import unpack


class Validator(Protocol):
    """Runs what an edit makes of a sample, in the sandbox."""

    def check(self, sample_id: str, after: dict[str, str]) -> Validation:
        """Return what comes of a sample whose fields have these values."""


def revalidate(store: Store, decision_id: int, validator: Validator) -> tuple[Validation, QueueStatus]:
    """Run an edit, keep what came of it, and return it with the status of its sample.

    It may take seconds to minutes: no connection is held meanwhile.

    Errors: DecisionError where the decision is no edit; those of the validator.
    """
    sample_id, values = _edited(store, decision_id)
    validation = validator.check(sample_id, values)
    return validation, add_validation(store, decision_id, validation)


def _edited(store: Store, decision_id: int) -> tuple[str, dict[str, str]]:
    """Return the id of the sample of an edit, and all its fields with the values that the edit gives them."""
    query = (
        select(samples.c.id, decisions.c.after, views.c.data)
        .join(samples, samples.c.seq == decisions.c.seq)
        .join(views, views.c.seq == decisions.c.seq)
        .where(decisions.c.id == decision_id, decisions.c.kind == DecisionKind.EDIT)
    )
    with store.reading() as connection:
        row = connection.execute(query).one_or_none()
    if row is None:
        raise DecisionError(f"decision {decision_id} is no edit", code="decision_not_edit")
    return row.id, unpack(row.data).content | row.after
