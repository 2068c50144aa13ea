"""A Hub on loopback: the documented endpoints that `huggingface_hub` and `datasets` use for a data set, its errors, its tokens.

Repositories live in memory. Endpoints: https://huggingface.co/docs/hub/api and, for large files, git-lfs' batch API.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import yaml

from tests.loopback import on_loopback

WRITER, READER = "hf_writer", "hf_reader"
_TOKENS = {WRITER: "write", READER: "read"}

Tree = dict[str, bytes]


@dataclass
class Repository:
    private: bool
    commits: dict[str, Tree] = field(default_factory=dict)
    main: str = ""
    tags: dict[str, str] = field(default_factory=dict)

    def commit(self, tree: Tree) -> str:
        state = json.dumps([self.main, sorted((path, blob_id(content)) for path, content in tree.items())])
        self.main = hashlib.sha1(state.encode(), usedforsecurity=False).hexdigest()
        self.commits[self.main] = tree
        return self.main

    def revision(self, name: str) -> str | None:
        oid = self.main if name == "main" else self.tags.get(name, name)
        return oid if oid in self.commits else None


@dataclass
class Hub:
    """What the Hub holds; `faults` maps the beginning of a request (`PUT /lfs`) to the statuses of its next answers."""

    url: str = ""
    repositories: dict[str, Repository] = field(default_factory=dict)
    large: dict[str, bytes] = field(default_factory=dict)
    faults: dict[str, list[int]] = field(default_factory=dict)
    before_commit: Callable[[Repository], object] | None = None
    asked: Counter[str] = field(default_factory=Counter)

    def files(self, name: str, revision: str = "main") -> Tree:
        repository = self.repositories[name]
        return {
            k: v for k, v in repository.commits[repository.revision(revision) or ""].items() if k != ".gitattributes"
        }


class Refused(Exception):
    def __init__(self, status: int, message: str, code: str | None = None, **more: str) -> None:
        super().__init__(message)
        self.status, self.code, self.more = status, code, more


def blob_id(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def is_large(path: str) -> bool:
    return path.endswith(".parquet")


@contextmanager
def hub_server() -> Iterator[Hub]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    hub = Hub(f"http://127.0.0.1:{server.server_port}")
    server.RequestHandlerClass = _handler(hub)
    with on_loopback(server):
        yield hub


def _info(path: str, content: bytes) -> dict[str, Any]:
    row: dict[str, Any] = {"type": "file", "path": path, "size": len(content), "oid": blob_id(content)}
    if is_large(path):
        row["lfs"] = {"oid": hashlib.sha256(content).hexdigest(), "size": len(content), "pointerSize": 130}
    return row


def _create(hub: Hub, _: re.Match[str], body: Any) -> Any:
    name = f"{body['organization']}/{body['name']}"
    if name in hub.repositories:
        raise Refused(409, "You already created this dataset repo", url=f"{hub.url}/datasets/{name}")
    hub.repositories[name] = Repository(private=body.get("visibility") == "private")
    hub.repositories[name].commit({".gitattributes": b"*.parquet filter=lfs diff=lfs merge=lfs -text\n"})
    return {"url": f"{hub.url}/datasets/{name}", "name": name}


def _validate(hub: Hub, _: re.Match[str], body: Any) -> Any:
    front = yaml.safe_load(body["content"].split("---\n")[1])
    if front["license"] == "other" and not front.get("license_name"):
        raise Refused(400, "license_name is required")
    return {"errors": [], "warnings": []}


def _refs(hub: Hub, match: re.Match[str], _: Any) -> Any:
    repository = _found(hub, match)
    tags = [{"name": n, "ref": f"refs/tags/{n}", "targetCommit": oid} for n, oid in repository.tags.items()]
    main = {"name": "main", "ref": "refs/heads/main", "targetCommit": repository.main}
    return {"branches": [main], "tags": tags, "converts": []}


def _found(hub: Hub, match: re.Match[str]) -> Repository:
    if match["repo"] not in hub.repositories:
        raise Refused(404, "Repository not found", "RepoNotFound")
    return hub.repositories[match["repo"]]


def _tree_at(hub: Hub, match: re.Match[str]) -> tuple[str, Tree]:
    repository = _found(hub, match)
    oid = repository.revision(unquote(match["rev"]))
    if oid is None:
        raise Refused(404, "Invalid rev id", "RevisionNotFound")
    return oid, repository.commits[oid]


def _tree(hub: Hub, match: re.Match[str], body: Any) -> Any:
    _, tree = _tree_at(hub, match)
    below = unquote(match["path"] or "").strip("/")
    prefix = f"{below}/" if below else ""
    inside = {path: content for path, content in tree.items() if path.startswith(prefix)}
    if below and not inside:
        raise Refused(404, "Entry not found", "EntryNotFound")
    folders = {path[len(prefix) :].partition("/")[0] for path in inside if "/" in path[len(prefix) :]}
    recursive = body.get("recursive", ["false"])[0].lower() in ("true", "1")
    files = [_info(path, content) for path, content in inside.items() if recursive or "/" not in path[len(prefix) :]]
    return [
        {"type": "directory", "path": prefix + name, "size": 0, "oid": "0" * 40} for name in sorted(folders)
    ] + files


def _paths_info(hub: Hub, match: re.Match[str], body: Any) -> Any:
    _, tree = _tree_at(hub, match)
    folder = {"type": "directory", "size": 0, "oid": "0" * 40}
    return [
        _info(path, tree[path]) if path in tree else folder | {"path": path}
        for path in body["paths"]
        if path in tree or any(each.startswith(f"{path}/") for each in tree)
    ]


def _preupload(hub: Hub, match: re.Match[str], body: Any) -> Any:
    _, tree = _tree_at(hub, match)
    return {
        "files": [
            {
                "path": file["path"],
                "uploadMode": "lfs" if is_large(file["path"]) else "regular",
                "shouldIgnore": False,
                "oid": blob_id(tree[file["path"]]) if file["path"] in tree else None,
            }
            for file in body["files"]
        ]
    }


def _batch(hub: Hub, match: re.Match[str], body: Any) -> Any:
    _found(hub, match)
    objects = []
    for each in body["objects"]:
        known = each["oid"] in hub.large
        upload = {"actions": {"upload": {"href": f"{hub.url}/lfs/{each['oid']}", "header": {}}}}
        objects.append({"oid": each["oid"], "size": each["size"]} | ({} if known else upload))
    return {"transfer": "basic", "objects": objects}


def _commit(hub: Hub, match: re.Match[str], body: list[Any]) -> Any:
    repository = _found(hub, match)
    if hub.before_commit:
        hub.before_commit(repository)
    head = body[0]["value"]
    if head.get("parentCommit") not in (None, repository.main):
        raise Refused(412, "A commit has happened since. Please refresh and try again.")
    tree = dict(repository.commits[repository.main])
    for each in body[1:]:
        value = each["value"]
        if each["key"] == "deletedFile":
            del tree[value["path"]]
        elif each["key"] == "lfsFile":
            tree[value["path"]] = hub.large[value["oid"]]
        else:
            tree[value["path"]] = base64.b64decode(value["content"])
    oid = repository.commit(tree)
    return {"success": True, "commitOid": oid, "commitUrl": f"{hub.url}/datasets/{match['repo']}/commit/{oid}"}


def _tag(hub: Hub, match: re.Match[str], body: Any) -> Any:
    oid, _ = _tree_at(hub, match)
    repository = _found(hub, match)
    if body["tag"] in repository.tags:
        raise Refused(409, "Tag reference exists already")
    repository.tags[body["tag"]] = oid
    return {}


def _about(hub: Hub, match: re.Match[str], _: Any) -> Any:
    oid = _found(hub, match).revision(unquote(match.groupdict().get("rev") or "main"))
    if oid is None:
        raise Refused(404, "Invalid rev id", "RevisionNotFound")
    tree = _found(hub, match).commits[oid]
    about: dict[str, Any] = {
        "id": match["repo"],
        "sha": oid,
        "private": _found(hub, match).private,
        "tags": [],
        "downloads": 0,
        "likes": 0,
    }
    return about | {"siblings": [{"rfilename": path} for path in tree]}


_REPO = r"/api/datasets/(?P<repo>[^/]+/[^/]+)"
_ROUTES: list[tuple[str, str, Callable[[Hub, re.Match[str], Any], Any]]] = [
    ("POST", r"/api/repos/create", _create),
    ("POST", r"/api/validate-yaml", _validate),
    ("GET", rf"{_REPO}/refs", _refs),
    ("GET", rf"{_REPO}/tree/(?P<rev>[^/]+)(?P<path>/.*)?", _tree),
    ("POST", rf"{_REPO}/paths-info/(?P<rev>[^/]+)", _paths_info),
    ("POST", rf"{_REPO}/preupload/(?P<rev>[^/]+)", _preupload),
    ("POST", rf"{_REPO}/commit/(?P<rev>[^/]+)", _commit),
    ("POST", rf"{_REPO}/tag/(?P<rev>[^/]+)", _tag),
    ("GET", rf"{_REPO}/revision/(?P<rev>[^/]+)", _about),
    ("GET", _REPO, _about),
    ("POST", r"/datasets/(?P<repo>[^/]+/[^/]+)\.git/info/lfs/objects/batch", _batch),
]
_WRITES = ("/api/repos/create", "/commit/", "/tag/", "/preupload/", "/info/lfs/")
_RESOLVE = re.compile(r"/datasets/(?P<repo>[^/]+/[^/]+)/resolve/(?P<rev>[^/]+)/(?P<path>.+)")


def _handler(hub: Hub) -> type[BaseHTTPRequestHandler]:  # noqa: C901 - a class that knows its hub
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _serve(self) -> None:
            content = (
                self.rfile.read(int(self.headers.get("Content-Length") or 0)) if not self._chunked() else self._read()
            )
            url = urlsplit(self.path)
            hub.asked[f"{self.command} {url.path}"] += 1
            try:
                self._fault(url.path)
                if url.path.startswith("/lfs/"):
                    hub.large[hashlib.sha256(content).hexdigest()] = content
                    self._answer(200, b"")
                elif match := _RESOLVE.fullmatch(url.path):
                    self._file(match)
                else:
                    self._allow(url.path)
                    self._api(url.path, _body(self.headers.get("Content-Type", ""), content, url.query))
            except Refused as refused:
                headers = {"X-Error-Message": str(refused)} | ({"X-Error-Code": refused.code} if refused.code else {})
                self._answer(refused.status, json.dumps({"error": str(refused)} | refused.more).encode(), headers)

        def _chunked(self) -> bool:
            return self.headers.get("Transfer-Encoding", "") == "chunked"

        def _read(self) -> bytes:
            parts = []
            while size := int(self.rfile.readline(), 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)

        def _fault(self, path: str) -> None:
            for start, statuses in hub.faults.items():
                if f"{self.command} {path}".startswith(start) and statuses and (status := statuses.pop(0)) >= 400:
                    raise Refused(status, "Internal Error" if status >= 500 else "not now")

        def _allow(self, path: str) -> None:
            token = self.headers.get("Authorization", "").removeprefix("Bearer ")
            if token and token not in _TOKENS:
                raise Refused(401, "Invalid credentials in Authorization header")
            if any(part in path for part in _WRITES):
                if not token:
                    raise Refused(401, "Invalid username or password.")
                if _TOKENS[token] != "write":
                    raise Refused(403, "You don't have the rights to create a dataset under this namespace")

        def _api(self, path: str, body: Any) -> None:
            for method, pattern, answer in _ROUTES:
                if method == self.command and (match := re.fullmatch(pattern, path)):
                    self._answer(
                        200, json.dumps(answer(hub, match, body)).encode(), {"Content-Type": "application/json"}
                    )
                    return
            raise Refused(404, f"no such page: {path}", "EntryNotFound")

        def _file(self, match: re.Match[str]) -> None:
            oid, tree = _tree_at(hub, match)
            path = unquote(match["path"])
            if path not in tree:
                raise Refused(404, "Entry not found", "EntryNotFound")
            etag = hashlib.sha256(tree[path]).hexdigest() if is_large(path) else blob_id(tree[path])
            self._answer(200, tree[path], {"ETag": f'"{etag}"', "X-Repo-Commit": oid, "Accept-Ranges": "bytes"})

        def _answer(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
            asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", "")) if status == 200 else None
            more = {}
            if asked:
                first, last = int(asked[1]), min(int(asked[2] or len(body)), len(body) - 1)
                more = {"Content-Range": f"bytes {first}-{last}/{len(body)}"}
                status, body = 206, body[first : last + 1]
            self.send_response(status)
            for name, value in ({"Content-Length": str(len(body))} | more | (headers or {})).items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        do_GET = do_PUT = do_POST = do_HEAD = _serve  # noqa: N815

        def log_message(self, *_: Any) -> None:
            pass

    return Handler


def _body(kind: str, content: bytes, query: str) -> Any:
    if kind.startswith("application/x-ndjson"):
        return [json.loads(line) for line in content.splitlines()]
    if kind.startswith("application/x-www-form-urlencoded"):
        return parse_qs(content.decode())
    return json.loads(content) if content else parse_qs(query)
