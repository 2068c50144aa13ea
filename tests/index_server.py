"""A package index on loopback: project documents, the simple API in HTML and JSON, files and ranges of them, faults."""

from __future__ import annotations

import base64
import hashlib
import html
import io
import json
import re
import tarfile
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler

from tests.loopback import QuietServer, on_loopback

EPOCH = (2020, 1, 1, 0, 0, 0)


def wheel(name: str, version: str, files: Mapping[str, str], **metadata: str) -> tuple[str, bytes]:
    """Build a pure wheel; `metadata` adds core metadata fields, with `_` for `-`."""
    module = name.replace("-", "_")
    info = f"{module}-{version}.dist-info"
    fields = {"License-Expression": "MIT", "Author": "Ada Example"} | {
        k.replace("_", "-"): v for k, v in metadata.items()
    }
    head = "".join(f"{key}: {value}\n" for key, value in fields.items())
    members = {path: text.encode() for path, text in files.items()} | {
        f"{info}/METADATA": f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n{head}".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    return f"{module}-{version}-py3-none-any.whl", zip_bytes(members | {f"{info}/RECORD": record(members, info)})


def record(members: Mapping[str, bytes], info: str) -> bytes:
    """Return the RECORD of a wheel, which has no hash of itself (PEP 376)."""
    rows = []
    for path, content in members.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
        quoted = '"' + path.replace('"', '""') + '"' if set(path) & set(',"') else path
        rows.append(f"{quoted},sha256={digest},{len(content)}\n")
    return "".join([*rows, f"{info}/RECORD,,\n"]).encode()


def zip_bytes(members: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in members.items():
            archive.writestr(zipfile.ZipInfo(path, EPOCH), content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def without_tests(paths: Iterable[str]) -> list[str]:
    """Return the files that are not in a folder of tests."""
    return [path for path in paths if "/tests/" not in path]


def sdist(name: str, version: str, files: Mapping[str, str | bytes], home: str = "") -> tuple[str, bytes]:
    """Build a source distribution whose files lie below `name-version/`, with the address of a home page."""
    buffer = io.BytesIO()
    top = f"{name}-{version}"
    metadata = f"Metadata-Version: 1.2\nName: {name}\nVersion: {version}\nLicense: MIT\n"
    metadata += f"Home-page: {home}\n" if home else ""
    members = {f"{top}/{path}": content for path, content in files.items()} | {f"{top}/PKG-INFO": metadata}
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for path, text in members.items():
            content = text.encode() if isinstance(text, str) else text
            info = tarfile.TarInfo(path)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return f"{top}.tar.gz", buffer.getvalue()


@dataclass
class Reply:
    """What the server says."""

    status: int
    headers: dict[str, str]
    body: bytes


Twist = Callable[[Reply], Reply]


@dataclass
class File:
    filename: str
    content: bytes
    uploaded: str
    requires_python: str | None = None
    yanked: bool = False
    sha256: str = ""

    def __post_init__(self) -> None:
        self.sha256 = self.sha256 or hashlib.sha256(self.content).hexdigest()


@dataclass
class Index:
    """What the server serves, and how it misbehaves.

    `infos` is what the documents of projects say of their newest release. `faults` maps a path to the statuses that
    its next requests get; `delays` to seconds of silence; `truncate` to the number of bytes after which the body
    breaks off, as often as listed; `twists` to what is done to the next replies. `asked` lists each request for a
    file: path, and its Range or nothing.
    """

    url: str = ""
    projects: dict[str, dict[str, list[File]]] = field(default_factory=dict)
    infos: dict[str, dict[str, object]] = field(default_factory=dict)
    documents: bool = True
    simple_json: bool = True
    upload_times: bool = True
    sizes: bool = True
    faults: dict[str, list[int]] = field(default_factory=dict)
    delays: dict[str, float] = field(default_factory=dict)
    truncate: dict[str, list[int]] = field(default_factory=dict)
    ranges: bool = True
    etags: bool = True
    twists: dict[str, list[Twist]] = field(default_factory=dict)
    requests: Counter[str] = field(default_factory=Counter)
    asked: list[tuple[str, str]] = field(default_factory=list)
    sign_in: str = ""
    authorizations: list[str] = field(default_factory=list)
    files_at: str = "../.."

    @property
    def simple(self) -> str:
        return f"{self.url}/simple"

    def add(
        self, project: str, version: str, file: tuple[str, bytes] | None, uploaded: str, **more: object
    ) -> File | None:
        """Add a release, with one more file if one is given."""
        files = self.projects.setdefault(project, {}).setdefault(version, [])
        if file is None:
            return None
        files.append(File(file[0], file[1], uploaded, **more))  # type: ignore[arg-type]
        return files[-1]

    def add_wheel(
        self, project: str, version: str, files: Mapping[str, str], uploaded: str, **more: object
    ) -> File | None:
        """Add a release with a pure wheel."""
        return self.add(project, version, wheel(project, version, files), uploaded, **more)

    def reply(self, path: str, headers: Mapping[str, str]) -> Reply:
        """Return the reply to a request, twisted where that is wanted."""
        given = headers.get("Authorization", "")
        self.authorizations.append(given)
        if self.sign_in and given != f"Basic {base64.b64encode(self.sign_in.encode()).decode()}":
            return Reply(401, {"Content-Type": "text/plain"}, f"not let in with {given!r}".encode())
        if path.startswith("/files/"):
            reply = self._file(path, headers)
        else:
            status, kind, body = self.answer(path, headers.get("Accept", ""))
            reply = Reply(status, {"Content-Type": kind}, body)
        return self.twists[path].pop(0)(reply) if self.twists.get(path) else reply

    def _file(self, path: str, headers: Mapping[str, str]) -> Reply:
        """Serve a file, or one range of it (RFC 9110 §14)."""
        wanted = headers.get("Range", "")
        self.asked.append((path, wanted))
        name = path.rpartition("/")[2]
        found = [f for p in self.projects.values() for fs in p.values() for f in fs if f.filename == name]
        if not found:
            return Reply(404, {"Content-Type": "text/plain"}, b"no")
        content = found[0].content
        etag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
        told = {"Content-Type": "application/octet-stream"} | ({"ETag": etag} if self.etags else {})
        match = re.fullmatch(r"bytes=(\d*)-(\d*)", wanted)
        if not self.ranges or not match or headers.get("If-Range", etag) != etag:
            return Reply(200, told, content)
        start = int(match[1]) if match[1] else max(0, len(content) - int(match[2]))
        stop = min(int(match[2]) + 1, len(content)) if match[1] and match[2] else len(content)
        if start >= stop:
            return Reply(416, told | {"Content-Range": f"bytes */{len(content)}"}, b"")
        return Reply(206, told | {"Content-Range": f"bytes {start}-{stop - 1}/{len(content)}"}, content[start:stop])

    def answer(self, path: str, accept: str) -> tuple[int, str, bytes]:
        """Return status, content type and body of a request for a document."""
        parts = path.strip("/").split("/")
        name = parts[1] if len(parts) > 1 else ""
        if name not in self.projects:
            return 404, "text/plain", b"no such project"
        if parts[0] == "pypi" and self.documents:
            return 200, "application/json", json.dumps(self._document(name)).encode()
        if parts[0] == "simple" and self.simple_json and "json" in accept:
            return 200, "application/vnd.pypi.simple.v1+json", json.dumps(self._simple_json(name)).encode()
        if parts[0] == "simple":
            return 200, "text/html", self._simple_html(name).encode()
        return 404, "text/plain", b"no"

    def _document(self, name: str) -> dict[str, object]:
        return {
            "info": {"name": name} | self.infos.get(name, {}),
            "releases": {
                version: [
                    {
                        "filename": f.filename,
                        "url": f"{self.files_at}/files/{f.filename}",
                        "packagetype": "bdist_wheel" if f.filename.endswith(".whl") else "sdist",
                        "digests": {"sha256": f.sha256},
                        "size": len(f.content),
                        "requires_python": f.requires_python,
                        "yanked": f.yanked,
                        "upload_time_iso_8601": f.uploaded,
                    }
                    for f in files
                ]
                for version, files in self.projects[name].items()
            },
        }

    def _simple_json(self, name: str) -> dict[str, object]:
        return {
            "meta": {"api-version": "1.1"},
            "name": name,
            "versions": list(self.projects[name]),
            "files": [
                {
                    "filename": f.filename,
                    "url": f"{self.files_at}/files/{f.filename}",
                    "hashes": {"sha256": f.sha256},
                    "requires-python": f.requires_python,
                    "yanked": f.yanked,
                    **({"size": len(f.content)} if self.sizes else {}),
                    **({"upload-time": f.uploaded} if self.upload_times else {}),
                }
                for files in self.projects[name].values()
                for f in files
            ],
        }

    def _simple_html(self, name: str) -> str:
        links = [
            f'<a href="{self.files_at}/files/{f.filename}#sha256={f.sha256}"'
            + (f' data-requires-python="{html.escape(f.requires_python)}"' if f.requires_python else "")
            + (' data-yanked=""' if f.yanked else "")
            + f">{f.filename}</a>"
            for files in self.projects[name].values()
            for f in files
        ]
        return f"<!DOCTYPE html><html><body>{''.join(links)}</body></html>"


@contextmanager
def serve(index: Index) -> Iterator[Index]:
    """Serve an index on a free port of the loopback interface."""
    server = QuietServer(("127.0.0.1", 0), _handler(index))
    index.url = f"http://127.0.0.1:{server.server_port}"
    with on_loopback(server):
        yield index


def _handler(index: Index) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Head and body are two packets; without this the second waits 40 ms for the client to confirm the first.
        disable_nagle_algorithm = True

        def do_HEAD(self) -> None:
            self.do_GET()

        def do_GET(self) -> None:
            # Read before the request is counted: a test may clear the delays as soon as it sees one.
            delay = index.delays.get(self.path, 0)
            index.requests[self.path] += 1
            time.sleep(delay)
            if index.faults.get(self.path):
                status = index.faults[self.path].pop(0)
                reply = Reply(status, {"Content-Type": "text/html"}, b"<h1>out of order</h1>")
            else:
                reply = index.reply(self.path, dict(self.headers))
            body = reply.body
            self.send_response(reply.status)
            for name, value in ({"Content-Length": str(len(body))} | reply.headers).items():
                self.send_header(name, value)
            self.end_headers()
            if index.truncate.get(self.path):
                self.wfile.write(body[: index.truncate[self.path].pop(0)])
                self.close_connection = True
            elif self.command == "GET":
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Keep the tests' output to the tests."""

    return Handler
