"""The review page as an ASGI application: its routes behind one door, its headers, and its errors in words."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from typing import Any

from fastapi import APIRouter, Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pipeline.quality.annotation.queue import UnknownSample
from pipeline.quality.annotation.revalidation import Validator
from pipeline.quality.annotation.store import Store
from pipeline.quality.annotation.web import actions, pages
from pipeline.quality.annotation.web.access import PageKeys, authorise, signed_in
from pipeline.quality.annotation.web.site import Site, render

HEADERS = {
    # No inline script or style, nothing from elsewhere, no way out: what was crawled is text, and stays text.
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'self'; require-trusted-types-for 'script'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


def create_app(store: Store, validator: Validator, authenticate: Callable[..., Any], keys: PageKeys) -> FastAPI:
    """Return the review page over a store.

    `authenticate` is a FastAPI dependency that returns the Annotator who asks, or answers 401; `validator` runs edits.
    """
    app = FastAPI(title="Driftline review", openapi_url=None, docs_url=None, redoc_url=None)
    app.state.site = Site(store, validator, ThreadPoolExecutor(1, "revalidate"))
    app.state.keys = keys
    app.dependency_overrides[signed_in] = authenticate
    # The one way in: a route that is not under this router is a hole, and a test walks all routes to find it.
    router = APIRouter(dependencies=[Depends(authorise)])
    router.include_router(pages.router)
    router.include_router(actions.router)
    app.include_router(router)
    app.add_middleware(_Door)
    app.add_exception_handler(HTTPException, _refused)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(UnknownSample, _unknown)
    return app


MOST_BYTES = 8 << 20
"""What may be sent at once: bodies are read before anybody is asked who they are."""


class _Door:
    """Set the headers of every answer, which no cache keeps but where it never changes; refuse what is too long."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                headers.setdefault("cache-control", "no-store")
            await send(message)

        if scope["type"] == "http" and not _is_short(scope):
            refusal = JSONResponse({"detail": f"send at most {MOST_BYTES} bytes, and say how many"}, 413)
            await refusal(scope, receive, sending)
        else:
            await self.app(scope, receive, sending)


def _is_short(scope: Scope) -> bool:
    headers = Headers(scope=scope)
    length = headers.get("content-length", "" if "transfer-encoding" in headers else "0")
    return length.isdecimal() and int(length) <= MOST_BYTES


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _error_response(request, error.status_code, error.detail, error.headers)


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    words = [f"{'.'.join(map(str, wrong['loc']))}: {wrong['msg']}" for wrong in error.errors()]
    return _error_response(request, HTTPStatus.UNPROCESSABLE_ENTITY, "; ".join(words))


async def _unknown(request: Request, error: Exception) -> Response:
    return _error_response(request, HTTPStatus.NOT_FOUND, str(error))


def _error_response(request: Request, status: int, detail: str, headers: object = None) -> Response:
    """Answer an error as a page to whoever reads pages, else as JSON."""
    extra_headers = dict(headers) if isinstance(headers, dict) else None
    if "text/html" in request.headers.get("accept", ""):
        return render(
            request, "error.html", status=status, headers=extra_headers, detail=detail, phrase=HTTPStatus(status).phrase
        )
    return JSONResponse({"detail": detail}, status, extra_headers)
