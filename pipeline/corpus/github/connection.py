"""PyGithub over a session of ours, by the hook that it has for that."""

from __future__ import annotations

from urllib.parse import urljoin, urlsplit

import requests
from github.Auth import Auth
from github.Requester import HTTPRequestsConnectionClass, HTTPSRequestsConnectionClass, Requester, RequestsResponse

from pipeline.core.build import VERSION
from pipeline.index.http import BadAnswer, Unreachable

ACCEPT = "application/vnd.github.v3+json"
"""What GitHub's own recordings were asked with; it stands for JSON of the version below."""

API_VERSION = "2022-11-28"
MAX_MOVES = 3
_MOVED = (301, 307, 308)


def requester(session: requests.Session, url: str, auth: Auth | None, timeout_s: float, per_page: int) -> Requester:
    """Return a requester of PyGithub that sends everything through a session, which waits and tries again itself."""

    class SessionRequester(Requester):
        """Has connections of its own: PyGithub keeps them for a class, not for an instance."""

    class Http(HTTPRequestsConnectionClass):
        def getresponse(self) -> RequestsResponse:
            return _answer(session, self)

    class Https(HTTPSRequestsConnectionClass):
        def getresponse(self) -> RequestsResponse:
            return _answer(session, self)

    SessionRequester.injectConnectionClasses(Http, Https)
    return SessionRequester(
        auth=auth,
        base_url=url.rstrip("/"),
        timeout=max(1, round(timeout_s)),
        user_agent=f"driftline/{VERSION}",
        per_page=per_page,
        verify=True,
        retry=None,
        pool_size=None,
        api_version=API_VERSION,
    )


def _answer(
    session: requests.Session, connection: HTTPRequestsConnectionClass | HTTPSRequestsConnectionClass
) -> RequestsResponse:
    """Send a request, and again to where its object has moved; PyGithub would follow without end."""
    url = f"{connection.protocol}://{connection.host}:{connection.port}{connection.url}"
    headers = {"Accept": ACCEPT, **connection.headers}
    for _ in range(MAX_MOVES + 1):
        answer = session.get(url, headers=headers, timeout=connection.timeout, allow_redirects=False)
        if answer.status_code == requests.codes.accepted:
            raise Unreachable(f"{url}: GitHub is still making the answer; try again later")
        if answer.status_code not in _MOVED or "location" not in answer.headers:
            return RequestsResponse(answer)
        url = _moved(url, urljoin(url, answer.headers["location"]))
    raise BadAnswer(f"{url}: moved more than {MAX_MOVES} times")


def _moved(url: str, target: str) -> str:
    """Return where an object has moved to; the token is not carried to another host."""
    before, after = urlsplit(url), urlsplit(target)
    if (before.scheme, before.hostname, before.port or 443) != (after.scheme, after.hostname, after.port or 443):
        raise BadAnswer(f"{url}: moved to another host, {after.hostname}")
    return target
