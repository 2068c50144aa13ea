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
from pipeline.quality.annotation.decisions import DecisionError, Said, decide, decide_many
from pipeline.quality.annotation.entries import Decision, Validation
from pipeline.quality.annotation.history import last_decided
from pipeline.quality.annotation.queue import look, next_sample, open_sample, release, renew
from pipeline.quality.annotation.revalidation import revalidate
from pipeline.quality.annotation.web.access import Annotator, Who
from pipeline.quality.annotation.web.requests import NextWanted, SampleId, Spoken, SpokenOfMany
from pipeline.quality.annotation.web.site import Site, site_of

T = TypeVar("T")

log = logging.getLogger(__name__)


router = APIRouter()


@router.post("/next")
def next_one(request: Request, wanted: NextWanted, annotator: Who) -> dict[str, str | None]:
    """Open the next sample that nobody else has open; no id where none is left."""
    store = site_of(request).store
    found = next_sample(store, annotator.name, wanted.filters.filter(store.clock()), wanted.after)
    return {"id": found.entry.id if found else None}


@router.post("/samples/{sample_id}/open")
def open_one(request: Request, sample_id: SampleId, annotator: Who) -> dict[str, str | None]:
    """Open a sample, or say who has it open."""
    sample = open_sample(site_of(request).store, sample_id, annotator.name)
    return {"open_by": sample.entry.open_by if sample.entry.open_by != annotator.name else None}


@router.post("/samples/{sample_id}/renew")
def renew_one(request: Request, sample_id: SampleId, annotator: Who) -> dict[str, bool]:
    """Keep a sample open: its page asks for this as long as it is shown."""
    return {"kept": renew(site_of(request).store, sample_id, annotator.name)}


@router.post("/release")
def release_all(request: Request, annotator: Who) -> dict[str, str]:
    """Let others have what this annotator has open."""
    release(site_of(request).store, annotator.name)
    return {}


@router.post("/samples/{sample_id}/decisions")
def decide_one(request: Request, sample_id: SampleId, spoken: Spoken, annotator: Who) -> dict[str, Any]:
    """Decide on a sample, or say something of it; an edit is run at once, and counts once it has passed."""
    site = site_of(request)
    said = Said(spoken.kind, spoken.objection, spoken.comment, spoken.after, spoken.content, spoken.flags)
    decided = _taken(lambda: decide(site.store, sample_id, annotator.name, said))
    if spoken.kind == DecisionKind.EDIT:
        _run(site, decided.decision_id)
    return {"decision": decided.decision_id, "status": decided.status}


@router.post("/samples/{sample_id}/decisions/{decision_id}/run")
def run_again(request: Request, sample_id: SampleId, decision_id: int, annotator: Who) -> dict[str, Any]:
    """Run an edit that was not run, because the server had ended before."""
    site = site_of(request)
    if _edit(site, sample_id, decision_id, annotator).validation is None:
        _run(site, decision_id)
    return {"decision": decision_id}


@router.get("/samples/{sample_id}/decisions/{decision_id}")
def run_of(request: Request, sample_id: SampleId, decision_id: int, annotator: Who) -> dict[str, Any]:
    """Say where the run of an edit stands."""
    site = site_of(request)
    # In this order: what has ended by now is in the database before it is forgotten here.
    going = site.runs.get(decision_id)
    return _told(_edit(site, sample_id, decision_id, annotator), going)


@router.post("/decisions")
def decide_several(request: Request, spoken: SpokenOfMany, annotator: Who) -> dict[str, Any]:
    """Decide the same on several samples; those that cannot be decided are named, with the reason."""
    said = Said(spoken.kind, spoken.objection, spoken.comment)
    bulk = _taken(lambda: decide_many(site_of(request).store, spoken.ids, annotator.name, said))
    return asdict(bulk)


@router.post("/undo")
def undo(request: Request, annotator: Who) -> dict[str, list[str]]:
    """Take back this annotator's newest decision, and say which samples it was about; a bulk is one decision."""
    store = site_of(request).store
    ids = last_decided(store, annotator.name)
    if len(ids) == 1:
        _taken(lambda: decide(store, ids[0], annotator.name, Said(DecisionKind.UNDO)))
    elif ids:
        ids = list(_taken(lambda: decide_many(store, ids, annotator.name, Said(DecisionKind.UNDO))).decided)
    return {"ids": ids}


def _taken(act: Callable[[], T]) -> T:
    """Return what a decision came to; one that cannot be taken is answered with 409, in words."""
    try:
        return act()
    except DecisionError as error:
        raise HTTPException(status.HTTP_409_CONFLICT, str(error)) from None


def _edit(site: Site, sample_id: str, decision_id: int, annotator: Annotator) -> Decision:
    edits = (step for step in look(site.store, sample_id, annotator.name).history if step.kind == DecisionKind.EDIT)
    found = next((step for step in edits if step.id == decision_id), None)
    if found is None:
        raise HTTPException(status.HTTP_404_NOT_FOUND, f"sample {sample_id} has no edit {decision_id}")
    return found


def _run(site: Site, decision_id: int) -> None:
    """Run an edit beside the answering of requests; one run at a time, since each takes a core."""
    for number, run in list(site.runs.items()):  # other threads add to it
        if run.done() and not run.exception():
            site.runs.pop(number, None)
    going = site.runs.get(decision_id)
    if going is None or going.done():
        site.runs[decision_id] = site.pool.submit(revalidate, site.store, decision_id, site.validator)


def _told(edit: Decision, going: Future[object] | None) -> dict[str, Any]:
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
    shown = ("version", "outcome", "python", "detail")
    return {"problem": validation.problem, "runs": [{name: run.get(name) for name in shown} for run in validation.runs]}
