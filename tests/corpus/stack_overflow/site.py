"""A small Stack Overflow: the same posts as a data dump, and behind a server that speaks the API 2.3 on loopback."""

from __future__ import annotations

import gzip
import html
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit
from xml.sax.saxutils import quoteattr

from tests.loopback import on_loopback

FILTER = "!made-for-us"


@dataclass(frozen=True)
class Written:
    """A post as its author wrote it, and as the site shows it; `parent` is the question of an answer."""

    id: int
    markdown: str
    html: str
    created: datetime
    parent: int | None = None
    title: str = ""
    tags: tuple[str, ...] = ()
    score: int = 0
    author_id: int | None = 8
    author: str = "Ada O'Neil"
    edited: datetime | None = None
    licence: str | None = None
    accepted: int | None = None


@dataclass
class Reply:
    """What the server says; `body` is compressed as it is sent."""

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "application/json; charset=utf-8"})
    gzipped: bool = True
    cut: int | None = None


Twist = Callable[[Reply], Reply]


@dataclass
class Site:
    """The posts, and how the server behaves.

    `twists` are applied to the answers of a method, one each; None leaves one as it is. `inline_answers` is how many
    answers come with a question; `asked` lists method and parameters of each request.
    """

    posts: Sequence[Written]
    url: str = ""
    quota: int = 300
    markdown_only: bool = False
    inline_answers: int = 30
    twists: dict[str, list[Twist | None]] = field(default_factory=dict)
    requests: list[tuple[str, dict[str, str]]] = field(default_factory=list)

    def methods(self) -> list[str]:
        """Return which methods were asked, in their order."""
        return [method for method, _ in self.requests]

    def reply(self, method: str, parameters: dict[str, str]) -> Reply:
        """Return the answer to a request, twisted where that is wanted."""
        self.requests.append((method, parameters))
        try:
            body = self._answer(method, parameters)
            reply = Reply(200, json.dumps(body).encode())
        except Refused as error:
            reply = refusal(*error.args)
        twists = self.twists.get(method)
        twist = twists.pop(0) if twists else None
        return twist(reply) if twist else reply

    def _answer(self, method: str, parameters: dict[str, str]) -> dict[str, Any]:
        if self.quota <= 0:
            raise Refused(
                502, "throttle_violation", "too many requests from this IP, more requests available in 80000 seconds"
            )
        self.quota -= 1
        if method == "filters/create":
            return self._wrapped([{"filter": FILTER, "filter_type": "safe"}], has_more=False)
        if parameters.get("site") != "stackoverflow":
            raise Refused(400, "bad_parameter", "site is required")
        if parameters.get("filter") != FILTER:
            raise Refused(400, "bad_parameter", "filter")
        if method.startswith("questions/"):
            number = int(method.split("/")[1])
            return self._page([self._item(p) for p in self.posts if p.parent == number], parameters)
        return self._page([self._item(p) for p in self._questions(method, parameters)], parameters)

    def _questions(self, method: str, parameters: dict[str, str]) -> list[Written]:
        if method not in ("questions", "search/advanced"):
            raise Refused(404, "no_method", "no method found with this name")
        result = [p for p in self.posts if p.parent is None and parameters["tagged"] in p.tags]
        if "title" in parameters:
            result = [p for p in result if parameters["title"].lower() in p.title.lower()]
        result = [p for p in result if stamp(self._activity(p)) >= int(parameters.get("min", 0))]
        result = [p for p in result if stamp(p.created) <= int(parameters.get("todate", 1 << 40))]
        return sorted(result, key=lambda p: (self._activity(p), p.id))

    def _activity(self, question: Written) -> datetime:
        thread = [p for p in self.posts if question.id in (p.id, p.parent)]
        return max(p.edited or p.created for p in thread)

    def _page(self, items: list[dict[str, Any]], parameters: dict[str, str]) -> dict[str, Any]:
        size, page = int(parameters.get("pagesize", 30)), int(parameters.get("page", 1))
        if not (1 <= size <= 100 and page >= 1):
            raise Refused(400, "bad_parameter", "pagesize")
        return self._wrapped(items[(page - 1) * size : page * size], has_more=len(items) > page * size)

    def _wrapped(self, items: list[dict[str, Any]], *, has_more: bool) -> dict[str, Any]:
        return {"items": items, "has_more": has_more, "quota_max": 300, "quota_remaining": self.quota}

    def _item(self, post: Written) -> dict[str, Any]:
        owner = {"display_name": html.escape(post.author)} | ({"user_id": post.author_id} if post.author_id else {})
        body = {"body_markdown": html.escape(post.markdown)} if self.markdown_only else {"body": post.html}
        item: dict[str, Any] = {"creation_date": stamp(post.created), "score": post.score, "owner": owner, **body}
        if post.edited:
            item["last_edit_date"] = stamp(post.edited)
        if post.licence:
            item["content_license"] = post.licence
        if post.parent is not None:
            return item | {"answer_id": post.id, "question_id": post.parent}
        answers = [self._item(p) for p in self.posts if p.parent == post.id]
        item |= {
            "last_activity_date": stamp(self._activity(post)),
            "question_id": post.id,
            "title": html.escape(post.title),
            "tags": list(post.tags),
        }
        item |= {"answers": answers[: self.inline_answers]} if answers else {}
        return item | {"answer_count": len(answers)} | ({"accepted_answer_id": post.accepted} if post.accepted else {})


class Refused(Exception):
    """An error of the API: error_id, error_name, error_message."""


def refusal(number: int, name: str, message: str) -> Reply:
    """Return an error as the API words it, with status 400 whatever its number."""
    return Reply(400, json.dumps({"error_id": number, "error_name": name, "error_message": message}).encode())


def with_fields(**fields: Any) -> Twist:
    """Return a twist that sets fields of the wrapper."""
    return lambda reply: replace(reply, body=json.dumps(json.loads(reply.body) | fields).encode())


def stamp(time: datetime) -> int:
    return int(time.timestamp())


@contextmanager
def serve(site: Site) -> Iterator[Site]:
    """Serve a site on a free port of the loopback interface, under /2.3."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(site))
    server.daemon_threads = True
    site.url = f"http://127.0.0.1:{server.server_port}/2.3"
    with on_loopback(server):
        yield site


def _handler(site: Site) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            address = urlsplit(self.path)
            reply = site.reply(address.path.removeprefix("/2.3/"), dict(parse_qsl(address.query)))
            # Every answer of the API is compressed (https://api.stackexchange.com/docs/compression).
            body = gzip.compress(reply.body, mtime=0) if reply.gzipped else reply.body
            self.send_response(reply.status)
            headers = reply.headers | ({"Content-Encoding": "gzip"} if reply.gzipped else {})
            for name, value in ({"Content-Length": str(len(body))} | headers).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body[: reply.cut])
            self.close_connection = reply.cut is not None

        def log_message(self, *_: object) -> None:
            """Keep the tests' output to the tests."""

    return Handler


def write_dump(folder: Path, posts: Sequence[Written], *, users: bool = True, old_tags: bool = True) -> Path:
    """Write Posts.xml, and Users.xml beside it, as the official dump has them."""
    path = folder / "Posts.xml"
    rows = "".join(f"  <row{_attributes(post_attributes(post, old_tags))} />\r\n" for post in posts)
    path.write_bytes(f'\ufeff<?xml version="1.0" encoding="utf-8"?>\r\n<posts>\r\n{rows}</posts>'.encode())
    if users:
        named = {post.author_id: post.author for post in posts if post.author_id}
        lines = (f"  <row{_attributes({'Id': i, 'Reputation': 1, 'DisplayName': n})} />\r\n" for i, n in named.items())
        text = f'\ufeff<?xml version="1.0" encoding="utf-8"?>\r\n<users>\r\n{"".join(lines)}</users>'
        (folder / "Users.xml").write_bytes(text.encode())
    return path


def post_attributes(post: Written, old_tags: bool) -> dict[str, Any]:
    tags = "".join(f"<{tag}>" for tag in post.tags) if old_tags else f"|{'|'.join(post.tags)}|"
    kind = {"PostTypeId": 1} | ({"AcceptedAnswerId": post.accepted} if post.accepted else {})
    row: dict[str, Any] = {
        "Id": post.id,
        **(kind if post.parent is None else {"PostTypeId": 2, "ParentId": post.parent}),
    }
    row |= {"CreationDate": dump_time(post.created), "Score": post.score, "Body": post.html}
    row |= {"OwnerUserId": post.author_id} if post.author_id else {"OwnerDisplayName": post.author}
    row |= {"LastEditDate": dump_time(post.edited)} if post.edited else {}
    row |= {"Title": post.title, "Tags": tags, "AnswerCount": 1} if post.parent is None else {}
    row |= {"CommentCount": 0}
    return row | ({"ContentLicense": post.licence} if post.licence else {})


def dump_time(time: datetime) -> str:
    # The dump has milliseconds, which the API does not tell.
    return f"{time.astimezone(UTC) + timedelta(milliseconds=123):%Y-%m-%dT%H:%M:%S}.123"


def _attributes(row: dict[str, Any]) -> str:
    escapes = {'"': "&quot;"}
    return "".join(f" {name}={quoteattr(str(value), escapes)}" for name, value in row.items())
