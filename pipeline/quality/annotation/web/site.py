"""What the routes of one application share, and how they make pages."""

from __future__ import annotations

import functools
import hashlib
import time
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib.resources import files

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined

from pipeline.quality.annotation.queue import Choices, choices
from pipeline.quality.annotation.revalidation import Validator
from pipeline.quality.annotation.store import Store
from pipeline.quality.annotation.web.access import Annotator, page_token

MENU_S = 3.0
"""Seconds for which the numbers beside the choices of a filter may be old: counting them costs as much as the page."""

STATIC: Mapping[str, str] = {
    "style.css": "text/css",
    "icon.svg": "image/svg+xml",
    "keys.js": "text/javascript",
    "api.js": "text/javascript",
    "queue.js": "text/javascript",
    "sample.js": "text/javascript",
    "edit.js": "text/javascript",
}
"""The files that are served, and what they are."""

_templates = Environment(
    loader=PackageLoader("pipeline.quality.annotation.web", "templates"),
    undefined=StrictUndefined,
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
)
_templates.filters["words"] = lambda term: str(term).replace("_", " ")


@dataclass(frozen=True)
class Site:
    """The store, what runs edits, the runs of edits that go on in this process, and the menus of filters."""

    store: Store
    validator: Validator
    pool: ThreadPoolExecutor
    runs: dict[int, Future[object]] = field(default_factory=dict)
    menus: list[tuple[float, Choices]] = field(default_factory=list)

    def choices(self) -> Choices:
        """Return what filters can choose from, as it was at most `MENU_S` seconds ago."""
        if not self.menus or time.monotonic() - self.menus[0][0] > MENU_S:
            self.menus[:] = [(time.monotonic(), choices(self.store))]
        return self.menus[0][1]


def site_of(request: Request) -> Site:
    """Return what belongs to the application that a request came to."""
    site = request.app.state.site
    assert isinstance(site, Site)
    return site


def render(
    request: Request,
    template: str,
    annotator: Annotator | None = None,
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    **context: object,
) -> HTMLResponse:
    """Make a page; `annotator` is None where nobody is signed in, who gets no token."""
    token = page_token(annotator, request.app.state.keys) if annotator else ""
    html = _templates.get_template(template).render(
        root=request.scope.get("root_path", ""), annotator=annotator, token=token, edition=edition(), **context
    )
    return HTMLResponse(html, status, headers)


@functools.cache
def static(name: str) -> bytes:
    """Return a file of the page."""
    return (files("pipeline.quality.annotation.web") / "static" / name).read_bytes()


@functools.cache
def edition() -> str:
    """Return a hash of all static files: in their address, it lets browsers keep them for as long as they hold."""
    return hashlib.sha256(b"".join(static(name) for name in STATIC)).hexdigest()[:12]
