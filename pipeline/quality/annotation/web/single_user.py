"""The review page for one person: on loopback, behind a token in its address."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import socket

import uvicorn
from fastapi import FastAPI, HTTPException, Request, status
from starlette.middleware.trustedhost import TrustedHostMiddleware

from pipeline.quality.annotation.revalidation import Validator
from pipeline.quality.annotation.store import Store
from pipeline.quality.annotation.web.access import Annotator, PageKeys
from pipeline.quality.annotation.web.app import create_app

HOSTS = ("127.0.0.1", "localhost")


class TokenInAddress:
    """Lets in whoever brings the token: first in the address, where it is exchanged for a cookie, then as that.

    The address is in the terminal and in the browser's history; the cookie holds something else, for this run alone.
    """

    def __init__(self, name: str) -> None:
        self.token = secrets.token_urlsafe(32)
        self.cookie = f"driftline_{secrets.token_hex(4)}"
        self._annotator = Annotator(name, decides=True)
        self._session = hmac.new(self.token.encode(), b"session", hashlib.sha256).hexdigest()

    def __call__(self, request: Request) -> Annotator:
        """Return the one annotator; 401 without token or cookie, 303 to the page itself for a token."""
        token = request.query_params.get("token")
        if token is not None and _same(token, self.token):
            raise HTTPException(status.HTTP_303_SEE_OTHER, headers=self._exchange(request))
        if not _same(request.cookies.get(self.cookie, ""), self._session):
            raise HTTPException(status.HTTP_401_UNAUTHORIZED, "open the address that `driftline review` printed")
        return self._annotator

    def _exchange(self, request: Request) -> dict[str, str]:
        cookie = f"{self.cookie}={self._session}; HttpOnly; SameSite=Strict; Path=/"
        return {"location": request.url.path, "set-cookie": cookie}


def _same(presented: str, expected: str) -> bool:
    return hmac.compare_digest(presented.encode(), expected.encode())


def listen(port: int) -> socket.socket:
    """Return a socket of the loopback interface that listens on a port; 0 takes one that is free.

    Errors: OSError where the port is taken.
    """
    # asyncio sends at once (TCP_NODELAY) only on sockets that say they are TCP; on others a page waits 40 ms and more.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", port))
        listening.listen(128)
    except OSError:
        listening.close()
        raise
    listening.setblocking(False)
    return listening


def alone(store: Store, validator: Validator, door: TokenInAddress) -> FastAPI:
    """Return the page for whoever brings the token; it answers under names of this machine only (DNS rebinding)."""
    app = create_app(store, validator, door, PageKeys(secrets.token_bytes(32)))
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=list(HOSTS))
    return app


def serve(app: FastAPI, listening: socket.socket) -> None:
    """Serve until the process is told to end. What is asked for is not logged: the first address holds the token."""
    config = uvicorn.Config(app, log_level="warning", access_log=False, server_header=False)
    uvicorn.Server(config).run(sockets=[listening])
