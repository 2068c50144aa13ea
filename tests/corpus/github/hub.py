"""GitHub on loopback, as its documentation describes it: searches, commits, tags, tarballs, limits; and its faults."""

from __future__ import annotations

import hashlib
import io
import json
import re
import tarfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

from tests.index_server import Reply
from tests.loopback import QuietServer, on_loopback

TOKEN = "a-token-of-nobody"
Twist = Callable[[Reply], Reply]


@dataclass
class Snapshot:
    """A commit: when it was made, and all its files."""

    time: str
    files: Mapping[str, str | bytes]
    sha: str = ""

    def __post_init__(self) -> None:
        self.sha = self.sha or hashlib.sha1(repr((self.time, sorted(self.files.items()))).encode()).hexdigest()


@dataclass
class Repo:
    """A repository; `commits` are those of its branch, the first one first; tags and releases name commits."""

    name: str
    commits: list[Snapshot] = field(default_factory=list)
    tags: dict[str, Snapshot] = field(default_factory=dict)
    releases: dict[str, Snapshot] = field(default_factory=dict)
    topics: tuple[str, ...] = ()
    stars: int = 100
    licence: str | None = "MIT"
    created: str = "2021-01-01T00:00:00Z"
    pushed: str = "2021-06-01T00:00:00Z"
    size: int = 10
    fork: bool = False
    private: bool = False

    def commit(self, time: str, files: Mapping[str, str | bytes]) -> Snapshot:
        self.commits.append(Snapshot(time, files))
        return self.commits[-1]

    def at(self, ref: str) -> Snapshot | None:
        named = self.tags | self.releases
        return named.get(ref) or next(
            (commit for commit in [*self.commits, *named.values()] if commit.sha == ref), None
        )


@dataclass
class Hub:
    """What the server serves, and how it misbehaves.

    `gone` maps a repository to the status that all its addresses get, `renamed` an old name to a new one. `faults` maps a
    path (without query) to replies that its next requests get, `twists` to what is done to every reply; `delays` to
    seconds before one, `drip` to seconds before each byte. `limits` are what is left of `core`, `search`, `code_search`, each without end where it is not
    named. A search over more than `slow_days` is broken off.
    """

    url: str = ""
    repos: dict[str, Repo] = field(default_factory=dict)
    gone: dict[str, int] = field(default_factory=dict)
    renamed: dict[str, str] = field(default_factory=dict)
    faults: dict[str, list[Reply]] = field(default_factory=dict)
    twists: dict[str, Twist] = field(default_factory=dict)
    delays: dict[str, float] = field(default_factory=dict)
    drip: dict[str, float] = field(default_factory=dict)
    limits: dict[str, int] = field(default_factory=dict)
    reset_s: float = 3600
    max_results: int = 1000
    slow_days: float | None = None
    requests: Counter[str] = field(default_factory=Counter)
    targets: list[str] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    chunked: dict[str, int] = field(default_factory=dict)
    sent: list[int] = field(default_factory=list)
    tokens: set[str | None] = field(default_factory=set)

    def add(self, name: str, **more: Any) -> Repo:
        self.repos[name] = Repo(name, **more)
        return self.repos[name]

    def endless(self, path: str, length: int) -> list[int]:
        """Send so many bytes at a path in chunks, without saying how many; return the list of what was sent."""
        self.chunked[path] = length
        return self.sent

    def reply(self, target: str, headers: Mapping[str, str]) -> Reply:
        """Return the reply to a request: a fault, or what GitHub would say, with its limits and entity tags."""
        path = urlsplit(target).path
        if self.faults.get(path):
            return self.faults[path].pop(0)
        if path.startswith("/codeload/"):
            self.tokens.add(headers.get("Authorization"))
            return self._twisted(path, self._tarball(path))
        if headers.get("Authorization") != f"token {TOKEN}":
            return json_reply(401, {"message": "Bad credentials"})
        return self._twisted(path, self._limited(path, headers, lambda: self._answer(path, target)))

    def _twisted(self, path: str, reply: Reply) -> Reply:
        return self.twists[path](reply) if path in self.twists else reply

    def _limited(self, path: str, headers: Mapping[str, str], answer: Callable[[], Reply]) -> Reply:
        """Answer with the headers of the limit, refuse where nothing is left; what has not changed costs nothing."""
        limit = "code_search" if path == "/search/code" else "search" if path.startswith("/search/") else "core"
        limit_headers = {"X-RateLimit-Resource": limit, "X-RateLimit-Reset": str(int(time.time() + self.reset_s))}
        if self.limits.get(limit, 1) <= 0:
            message = {
                "message": "API rate limit exceeded for user ID 1.",
                "documentation_url": "https://docs.github.com",
            }
            return json_reply(403, message, limit_headers | {"X-RateLimit-Remaining": "0"})
        reply = answer()
        etag = f'W/"{hashlib.sha256(reply.body).hexdigest()}"'
        if reply.status == 200 and headers.get("If-None-Match") == etag:
            reply = Reply(304, {}, b"")
        elif limit in self.limits and path != "/rate_limit":
            self.limits[limit] -= 1
        limit_headers["X-RateLimit-Remaining"] = str(self.limits.get(limit, 4999))
        limit_headers |= {"Vary": "Accept, Authorization, Cookie, X-GitHub-OTP", "Cache-Control": "private, max-age=60"}
        return Reply(
            reply.status, reply.headers | limit_headers | ({"ETag": etag} if reply.status < 300 else {}), reply.body
        )

    def _answer(self, path: str, target: str) -> Reply:
        query = {key: values[0] for key, values in parse_qs(urlsplit(target).query).items()}
        if path == "/rate_limit":
            return json_reply(200, {"resources": {}, "rate": {"limit": 5000, "remaining": 5000, "reset": 0}})
        if path == "/search/repositories":
            return self._paged(target, query, self._searched(query["q"]), query["q"])
        if path == "/search/code":
            return self._paged(target, query, self._coded(query["q"]), query["q"])
        match = re.fullmatch(r"/repos/([^/]+/[^/]+)(?:/(.*))?|/repositories/(\d+)(?:/(.*))?", path)
        if not match:
            return json_reply(404, {"message": "Not Found"})
        name = match[1] or sorted(self.repos)[int(match[3])]
        return self._of_repository(name, unquote(match[2] or match[4] or ""), query, target)

    def _of_repository(self, name: str, rest: str, arguments: Mapping[str, str], target: str) -> Reply:
        if name in self.gone:
            return json_reply(
                self.gone[name], {"message": "Not Found" if self.gone[name] == 404 else "Repository unavailable"}
            )
        if name in self.renamed:
            number = sorted(self.repos).index(self.renamed[name])
            moved = f"{self.url}/repositories/{number}{'/' + rest if rest else ''}"
            query = urlsplit(target).query
            where = f"{moved}?{query}" if query else moved
            return json_reply(301, {"message": "Moved Permanently", "url": where}, {"Location": where})
        repo = self.repos.get(name)
        if repo is None:
            return json_reply(404, {"message": "Not Found"})
        if not rest:
            return json_reply(200, self.described(repo))
        kind, _, ref = rest.partition("/")
        return self._listed(repo, kind, arguments, target) if not ref else self._at(repo, kind, ref)

    def _listed(self, repo: Repo, kind: str, query: Mapping[str, str], target: str) -> Reply:
        if kind == "commits":
            if not repo.commits:
                return json_reply(409, {"message": "Git Repository is empty."})
            until = query.get("until", "9999")
            return self._page(target, query, [_commit(c) for c in reversed(repo.commits) if c.time <= until])
        if kind == "releases":
            rows = [
                {
                    "tag_name": tag,
                    "created_at": c.time,
                    "published_at": c.time,
                    "draft": False,
                    "prerelease": "rc" in tag,
                }
                for tag, c in reversed(repo.releases.items())
            ]
            return self._page(target, query, rows)
        rows = [{"name": tag, "commit": {"sha": c.sha}} for tag, c in sorted(repo.tags.items(), reverse=True)]
        return self._page(target, query, rows)

    def _at(self, repo: Repo, kind: str, ref: str) -> Reply:
        snapshot = repo.at(ref)
        if snapshot is None:
            return json_reply(422, {"message": f"No commit found for SHA: {ref}"})
        if kind == "commits":
            return json_reply(200, _commit(snapshot))
        return Reply(302, {"Location": f"{self.url}/codeload/{repo.name}/legacy.tar.gz/{ref}"}, b"")

    def _tarball(self, path: str) -> Reply:
        _, _, owner, name, _, sha = path.split("/")
        snapshot = self.repos[f"{owner}/{name}"].at(sha)
        assert snapshot
        return Reply(200, {"Content-Type": "application/x-gzip"}, tarball(f"{owner}-{name}-{sha[:7]}", snapshot.files))

    def described(self, repo: Repo) -> dict[str, Any]:
        """Describe a repository as GitHub does, of what matters here."""
        licence = {"key": (repo.licence or "").lower(), "name": repo.licence, "spdx_id": repo.licence}
        return {
            "id": 1,
            "full_name": repo.name,
            "html_url": f"https://github.com/{repo.name}",
            "url": f"{self.url}/repos/{repo.name}",
            "default_branch": "main",
            "license": licence if repo.licence else None,
            "stargazers_count": repo.stars,
            "size": repo.size,
            "fork": repo.fork,
            "archived": False,
            "private": repo.private,
            "created_at": repo.created,
            "pushed_at": repo.pushed,
            "topics": list(repo.topics),
        }

    def _searched(self, query: str) -> list[dict[str, Any]]:
        result = [repo for repo in self.repos.values() if _matches(repo, query)]
        return [self.described(repo) for repo in sorted(result, key=lambda repo: (-repo.stars, repo.name))]

    def _coded(self, query: str) -> list[dict[str, Any]]:
        low, high = map(int, re.search(r"size:(\d+)\.\.(\d+)", query).groups())  # type: ignore[union-attr]
        expected = re.search(r"filename:(\S+)", query)[1]  # type: ignore[index]
        rows = []
        for repo in self.repos.values():
            for path, text in repo.commits[-1].files.items() if repo.commits else ():
                if path.endswith(expected) and query.split()[0].strip('"') in str(text) and low <= len(text) <= high:
                    minimal = {key: self.described(repo)[key] for key in ("full_name", "url", "private", "fork")}
                    rows.append({"name": expected, "path": path, "sha": "0" * 40, "repository": minimal})
        return rows

    def _paged(self, target: str, arguments: Mapping[str, str], rows: list[dict[str, Any]], query: str) -> Reply:
        """Answer a search: a page of what is shown of it, and how many there are."""
        body = {"total_count": len(rows), "incomplete_results": self._slow(query)}
        return self._page(target, arguments, rows[: self.max_results], body)

    def _slow(self, query: str) -> bool:
        """Tell whether a search is over more days than GitHub has time for."""
        ends = re.search(r"(?:created|pushed):(\S+)\.\.(\S+)", query)
        if self.slow_days is None or not ends:
            return False
        return datetime.fromisoformat(ends[2]) - datetime.fromisoformat(ends[1]) > timedelta(days=self.slow_days)

    def _page(
        self, target: str, query: Mapping[str, str], rows: list[dict[str, Any]], around: dict[str, Any] | None = None
    ) -> Reply:
        size, page = int(query.get("per_page", 30)), int(query.get("page", 1))
        part = rows[(page - 1) * size : page * size]
        links = {}
        if page * size < len(rows):
            more = urlencode(dict(query) | {"page": page + 1})
            links = {"Link": f'<{self.url}{urlsplit(target).path}?{more}>; rel="next"'}
        return json_reply(200, part if around is None else around | {"items": part}, links)


def json_reply(status: int, body: object, headers: Mapping[str, str] | None = None) -> Reply:
    return Reply(
        status, {"Content-Type": "application/json; charset=utf-8", **(headers or {})}, json.dumps(body).encode()
    )


def tarball(top: str, files: Mapping[str, str | bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for path, text in files.items():
            content = text.encode() if isinstance(text, str) else text
            info = tarfile.TarInfo(f"{top}/{path}")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def _commit(snapshot: Snapshot) -> dict[str, Any]:
    person = {"name": "Ada", "email": "ada@example.org", "date": snapshot.time}
    return {"sha": snapshot.sha, "commit": {"author": person, "committer": person, "message": "work"}}


def _matches(repo: Repo, query: str) -> bool:
    """Tell whether a repository is found: every qualifier must hold, and the other words stand in its name."""
    return all(_holds(repo, *word.partition(":")) for word in query.split())


def _holds(repo: Repo, key: str, colon: str, value: str) -> bool:
    if key in ("created", "pushed"):
        low, high = value.split("..")
        return bool(low <= getattr(repo, key) <= high)
    holds = {
        "stars": lambda: repo.stars >= int(value.removeprefix(">=")),
        "topic": lambda: value in repo.topics,
        "license": lambda: (repo.licence or "").lower() == value,
        "fork": lambda: not repo.fork,
        "is": lambda: not repo.private,
    }
    return holds[key]() if key in holds else bool(colon) or key.strip('"') in repo.name


@contextmanager
def serve(hub: Hub) -> Iterator[Hub]:
    """Serve a hub on a free port of the loopback interface."""
    server = QuietServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"hub": hub}))
    hub.url = f"http://127.0.0.1:{server.server_port}"
    with on_loopback(server):
        yield hub


class _Handler(BaseHTTPRequestHandler):
    hub: Hub
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        self.hub.requests[path] += 1
        self.hub.targets.append(unquote(self.path).replace("+", " "))
        time.sleep(self.hub.delays.get(path, 0))
        if path in self.hub.chunked:
            self._endless(self.hub.chunked[path])
        else:
            self._send(self.hub.reply(self.path, dict(self.headers.items())), self.hub.drip.get(path))

    def _send(self, reply: Reply, pause: float | None) -> None:
        self.hub.statuses[reply.status] += 1
        self.send_response(reply.status)
        for name, value in ({"Content-Length": str(len(reply.body))} | reply.headers).items():
            if value:
                self.send_header(name, value)
        self.end_headers()
        self._write(reply.body, pause)
        self.close_connection = self.close_connection or reply.headers.get("Connection") == "close"

    def _endless(self, length: int) -> None:
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        block = b"\0" * (1 << 20)
        for _ in range(length >> 20):
            self.wfile.write(b"%x\r\n%b\r\n" % (len(block), block))
            self.hub.sent.append(len(block))
        self.wfile.write(b"0\r\n\r\n")

    def _write(self, body: bytes, pause: float | None) -> None:
        if pause is None:
            self.wfile.write(body)
            return
        for byte in body:
            time.sleep(pause)
            self.wfile.write(bytes([byte]))
            self.wfile.flush()

    def log_message(self, *_: object) -> None:
        """Keep the tests' output to the tests."""
