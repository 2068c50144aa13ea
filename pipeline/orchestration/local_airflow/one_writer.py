"""How a local Airflow's API serves those who write: one at a time, since its database has one writer.

Airflow 3.3 commits its audit log in the server's event loop. On SQLite that commit waits for whoever writes, which may
be another request of the same server, whose own commit waits for the event loop: both stand still until SQLite gives
up, a minute later, and with them every task that calls home.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

READING = frozenset({"GET", "HEAD", "OPTIONS"})
AIRFLOW = ("/api/", "/auth/", "/execution/", "/ui/")
"""Where Airflow itself answers. A decision in the review page runs for seconds, and writes elsewhere."""


class OneWriter:
    """Middleware that begins no request of Airflow's while one that writes is under way."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._writing = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request in its turn."""
        if scope["type"] != "http" or not scope["path"].startswith(AIRFLOW):
            await self._app(scope, receive, send)
        elif scope["method"] in READING:
            async with self._writing:
                pass  # Who reads may write too (revoked tokens, now and then), but can last: a log is followed.
            await self._app(scope, receive, send)
        else:
            async with self._writing:
                await self._app(scope, receive, send)
