"""What an annotator does: opening, deciding, undoing, and the runs of edits. Everything is JSON and a POST."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import asdict
from typing import Any, TypeVar

from fastapi import APIRouter, Request, status
from starlette.exceptions import HTTPException

from pipeline.core.vocabularies.annotation import DecisionKind
from pipeline.quality.annotation.decisions import DecisionError, NewDecision, decide, decide_many
from pipeline.quality.annotation.entries import Decision, Validation
from pipeline.quality.annotation.history import last_decided
from pipeline.quality.annotation.queue import look, next_sample, open_sample, release, renew
from pipeline.quality.annotation.revalidation import revalidate
from pipeline.quality.annotation.web.access import Annotator, SignedIn
from pipeline.quality.annotation.web.requests import BulkBody, DecisionBody, NextBody, SampleId
from pipeline.quality.annotation.web.site import Site, site_of

T = TypeVar("T")

log = logging.getLogger(__name__)


router = APIRouter()


@router.post("/next")
def open_next(request: Request, body: NextBody, annotator: SignedIn) -> dict[str, str | None]:
    """Open the next sample that nobody else has open; no id where none is left."""
    store = site_of(request).store
    sample = next_sample(store, annotator.name, body.filters.filter(store.clock()), body.after)
    return {"id": sample.entry.id if sample else None}


@router.post("/samples/{sample_id}/open")
def open_by_id(request: Request, sample_id: SampleId, annotator: SignedIn) -> dict[str, str | None]:
    """Open a sample, or say who has it open."""
    sample = open_sample(site_of(request).store, sample_id, annotator.name)
    return {"open_by": sample.entry.open_by if sample.entry.open_by != annotator.name else None}


@router.post("/samples/{sample_id}/renew")
def renew_lease(request: Request, sample_id: SampleId, annotator: SignedIn) -> dict[str, bool]:
    """Keep a sample open: its page asks for this as long as it is shown."""
    return {"kept": renew(site_of(request).store, sample_id, annotator.name)}


@router.post("/release")
def release_all(request: Request, annotator: SignedIn) -> dict[str, str]:
    """Let others have what this annotator has open."""
    release(site_of(request).store, annotator.name)
    return {}


@router.post("/samples/{sample_id}/decisions")
def decide_sample(request: Request, sample_id: SampleId, body: DecisionBody, annotator: SignedIn) -> dict[str, Any]:
    """Decide on a sample, or say something of it; an edit is run at once, and counts once it has passed."""
    site = site_of(request)
    decision = NewDecision(body.kind, body.objection, body.comment, body.after, body.content, body.flags)
    decided = _or_conflict(lambda: decide(site.store, sample_id, annotator.name, decision))
    if body.kind == DecisionKind.EDIT:
        _run(site, decided.decision_id)
    return {"decision": decided.decision_id, "status": decided.status}


@router.post("/samples/{sample_id}/decisions/{decision_id}/run")
def run_again(request: Request, sample_id: SampleId, decision_id: int, annotator: SignedIn) -> dict[str, Any]:
    """Run an edit that was not run, because the server had ended before."""
    site = site_of(request)
    if _edit(site, sample_id, decision_id, annotator).validation is None:
        _run(site, decision_id)
    return {"decision": decision_id}


@router.get("/samples/{sample_id}/decisions/{decision_id}")
def run_of(request: Request, sample_id: SampleId, decision_id: int, annotator: SignedIn) -> dict[str, Any]:
    """Say where the run of an edit stands."""
    site = site_of(request)
    # In this order: what has ended by now is in the database before it is forgotten here.
    going = site.runs.get(decision_id)
    return _run_state(_edit(site, sample_id, decision_id, annotator), going)


@router.post("/decisions")
def decide_several(request: Request, body: BulkBody, annotator: SignedIn) -> dict[str, Any]:
    """Decide the same on several samples; those that cannot be decided are named, with the reason."""
    decision = NewDecision(body.kind, body.objection, body.comment)
    bulk = _or_conflict(lambda: decide_many(site_of(request).store, body.ids, annotator.name, decision))
    return asdict(bulk)


@router.post("/undo")
def undo(request: Request, annotator: SignedIn) -> dict[str, list[str]]:
    """Take back this annotator's newest decision, and say which samples it was about; a bulk is one decision."""
    store = site_of(request).store
    ids = last_decided(store, annotator.name)
    if len(ids) == 1:
        _or_conflict(lambda: decide(store, ids[0], annotator.name, NewDecision(DecisionKind.UNDO)))
    elif ids:
        ids = list(
            _or_conflict(lambda: decide_many(store, ids, annotator.name, NewDecision(DecisionKind.UNDO))).decided
        )
    return {"ids": ids}


def _or_conflict(act: Callable[[], T]) -> T:
    """Return what a decision came to; one that cannot be taken is answered with 409, in words."""
    try:
        return act()
    except DecisionError as error:
        raise HTTPException(status.HTTP_409_CONFLICT, str(error)) from None


def _edit(site: Site, sample_id: str, decision_id: int, annotator: Annotator) -> Decision:
    edits = (step for step in look(site.store, sample_id, annotator.name).history if step.kind == DecisionKind.EDIT)
    edit = next((step for step in edits if step.id == decision_id), None)
    if edit is None:
        raise HTTPException(status.HTTP_404_NOT_FOUND, f"sample {sample_id} has no edit {decision_id}")
    return edit


def _run(site: Site, decision_id: int) -> None:
    """Run an edit beside the answering of requests; one run at a time, since each takes a core."""
    for number, run in list(site.runs.items()):  # other threads add to it
        if run.done() and not run.exception():
            site.runs.pop(number, None)
    going = site.runs.get(decision_id)
    if going is None or going.done():
        site.runs[decision_id] = site.pool.submit(revalidate, site.store, decision_id, site.validator)


def _run_state(edit: Decision, going: Future[object] | None) -> dict[str, Any]:
    """Return where the run of an edit stands: passed, failed, running, or not run."""
    if edit.validation is not None:
        return {"state": "passed" if edit.validation.passed else "failed", **_outcome(edit.validation)}
    if going is None:
        return {"state": "not_run", "problem": "the server was started again before the run ended: run it again"}
    if going.done() and (error := going.exception()):
        log.error("edit %s could not be run", edit.id, exc_info=error)
        return {"state": "not_run", "problem": f"it could not be run: {error}"}
    return {"state": "running", "problem": None}


def _outcome(validation: Validation) -> dict[str, Any]:
    columns = ("version", "outcome", "python", "detail")
    return {
        "problem": validation.problem,
        "runs": [{name: run.get(name) for name in columns} for run in validation.runs],
    }
