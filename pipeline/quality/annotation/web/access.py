"""SignedIn may do what: the one dependency that every route of the review page has."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Depends, HTTPException, Request, status


@dataclass(frozen=True, slots=True)
class PageKeys:
    """What an application tells its own pages by: a secret, the same in all processes that serve one address.

    `public_host` is the host, with its port, under which a proxy shows the page, where it does not pass it on.
    """

    secret: bytes
    public_host: str | None = None


LOOKING = frozenset({"GET", "HEAD"})
TOKEN_HEADER = "x-driftline-token"  # noqa: S105 - the name of a header


@dataclass(frozen=True, slots=True)
class Annotator:
    """Somebody who is signed in: the name under which decisions are kept, and whether they may make any."""

    name: str
    decides: bool


def signed_in() -> Annotator:
    """Say who asks. An application puts its own in this place; where it forgets to, nobody is let in."""
    raise HTTPException(status.HTTP_401_UNAUTHORIZED, "no annotator is signed in")


def authorise(request: Request, annotator: Annotated[Annotator, Depends(signed_in)]) -> Annotator:
    """Let through what may be done, on every route: viewers look, editors decide, and changes come from our page.

    Answers 401 to nobody, 403 to a viewer who wants to decide, and to whatever another site sent.
    """
    if request.method in LOOKING:
        if is_embedded(request):
            raise HTTPException(status.HTTP_403_FORBIDDEN, "this page is not for other sites")
        return annotator
    if not annotator.decides:
        raise HTTPException(status.HTTP_403_FORBIDDEN, f"{annotator.name} may look, and not decide")
    keys: PageKeys = request.app.state.keys
    if not is_same_origin(request, keys.public_host) or not _has_token(request, annotator, keys):
        raise HTTPException(status.HTTP_403_FORBIDDEN, "the request does not come from this page; load it again")
    return annotator


SignedIn = Annotated[Annotator, Depends(authorise)]
"""Whoever asks, and may: what every route takes."""


def page_token(annotator: Annotator, keys: PageKeys) -> str:
    """Return what a page gives back with everything that it changes: another site cannot read it."""
    return hmac.new(keys.secret, annotator.name.encode(), hashlib.sha256).hexdigest()


def _has_token(request: Request, annotator: Annotator, keys: PageKeys) -> bool:
    token = request.headers.get(TOKEN_HEADER, "")
    return hmac.compare_digest(token.encode(), page_token(annotator, keys).encode())


def is_same_origin(request: Request, public_host: str | None) -> bool:
    """Say whether a page of this very origin sent a request, as the browser tells (Fetch Metadata, Origin)."""
    site = request.headers.get("sec-fetch-site")
    if site is not None and site != "same-origin":
        return False
    origin = request.headers.get("origin")
    # A proxy may speak https in front of us: host and port must agree, the scheme need not.
    return origin is not None and urlsplit(origin).netloc in {request.headers.get("host"), public_host}


def is_embedded(request: Request) -> bool:
    """Say whether another site loads this as a part of itself; a link from there is no part."""
    cross = request.headers.get("sec-fetch-site") in {"cross-site", "same-site"}
    return cross and request.headers.get("sec-fetch-mode") != "navigate"
