"""The pages that people look at: the queue, a sample, and how far annotators agree."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, Response
from starlette.exceptions import HTTPException

from pipeline.core.vocabularies.annotation import DecisionKind, Objection, QueueStatus
from pipeline.quality.annotation.agreement import agreement
from pipeline.quality.annotation.entries import Decision, Sample
from pipeline.quality.annotation.pace import pace
from pipeline.quality.annotation.queue import Filter, like, look, page, progress
from pipeline.quality.annotation.web.access import SignedIn
from pipeline.quality.annotation.web.highlighting import rendered, safe
from pipeline.quality.annotation.web.requests import Age, Filters, SampleId
from pipeline.quality.annotation.web.site import STATIC, edition, render, site_of, static

ROWS = 50
_DONE = (QueueStatus.SUBMITTED, QueueStatus.DISCARDED)
_KEYS = "1234567890abcdefghijklmnopqrstuvwxyz"


router = APIRouter()


@router.get("/")
def queue_page(request: Request, filters: Annotated[Filters, Query()], annotator: SignedIn) -> HTMLResponse:
    """Show the queue under some filters, with its progress."""
    store = site_of(request).store
    criteria = filters.filter(store.clock())
    counts = progress(store, criteria)
    return render(
        request,
        "queue.html",
        annotator,
        filters=filters,
        page=page(store, criteria, filters.after, ROWS),
        choices=site_of(request).choices(),
        counts=counts,
        done=sum(counts[status] for status in _DONE),
        total=sum(counts.values()),
        statuses=list(QueueStatus),
        ages=list(Age),
        objections=_objections(),
        now=store.clock(),
    )


@router.get("/samples/{sample_id}")
def sample_page(
    request: Request, sample_id: SampleId, filters: Annotated[Filters, Query()], annotator: SignedIn
) -> HTMLResponse:
    """Show one sample with all that is known of it. It is opened by the page itself, since to look changes nothing."""
    store = site_of(request).store
    sample = look(store, sample_id, annotator.name)
    counts = progress(store, filters.filter(store.clock()))
    return render(
        request,
        "sample.html",
        annotator,
        filters=filters,
        sample=sample,
        entry=sample.entry,
        view=sample.view,
        rendered=rendered(sample.view),
        safe=safe,
        edited=_edited(sample, annotator.name),
        like=len(like(store, sample_id)),
        counts=counts,
        done=sum(counts[status] for status in _DONE),
        total=sum(counts.values()),
        objections=_objections(),
        lease_s=store.rules.lease_s,
    )


@router.get("/like/{sample_id}")
def like_page(
    request: Request, sample_id: SampleId, filters: Annotated[Filters, Query()], annotator: SignedIn
) -> HTMLResponse:
    """Show the samples that are like one, to decide on all of them."""
    store = site_of(request).store
    sample = look(store, sample_id, annotator.name)
    entries = (sample.entry, *like(store, sample_id, store.rules.max_bulk - 1))
    return render(
        request,
        "like.html",
        annotator,
        filters=filters,
        sample=sample,
        entries=entries,
        objections=_objections(),
        now=store.clock(),
    )


@router.get("/agreement")
def agreement_page(request: Request, filters: Annotated[Filters, Query()], annotator: SignedIn) -> HTMLResponse:
    """Show how far annotators agree, what is to be settled, and how fast they are."""
    store = site_of(request).store
    return render(
        request,
        "agreement.html",
        annotator,
        filters=filters,
        agreement=agreement(store, filters.library),
        conflicts=page(store, Filter(library=filters.library, status=QueueStatus.CONFLICTING), filters.after, ROWS),
        all=pace(store),
        own=pace(store, annotator.name),
        objections=_objections(),
        now=store.clock(),
    )


@router.get("/static/{requested_edition}/{name}")
def static_file(request: Request, requested_edition: str, name: str, annotator: SignedIn) -> Response:
    """Send a file of the page."""
    if name not in STATIC:
        raise HTTPException(404, f"{name} is no file of this page")
    # The address has the hash of the files in it, so that what it leads to never changes.
    cache_control = "private, max-age=31536000, immutable" if requested_edition == edition() else "no-store"
    return Response(static(name), media_type=STATIC[name], headers={"cache-control": cache_control})


def _edited(sample: Sample, annotator: str) -> Decision | None:
    """Return the edit with which an annotator stands, if it is one."""
    own = (
        step
        for step in sample.history
        if step.annotator == annotator and step.counts and step.kind == DecisionKind.EDIT
    )
    return next(own, None)


def _objections() -> list[tuple[str, Objection]]:
    """Return the reasons to reject, each with the key that chooses it."""
    return list(zip(_KEYS, Objection, strict=False))
