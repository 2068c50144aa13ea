"""The Anthropic API on loopback: Messages and Message Batches as documented, with limits, errors and paging."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.loopback import on_loopback

Reply = Callable[[dict[str, Any]], dict[str, Any]]
"""Makes the fields of a message (`text`, `stop_reason` …) of the parameters of a request."""

KEY = "sk-test"
_CUSTOM_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_TYPES = {400: "invalid_request_error", 401: "authentication_error", 402: "billing_error", 403: "permission_error",
          404: "not_found_error", 409: "conflict_error", 413: "request_too_large", 429: "rate_limit_error",
          405: "invalid_request_error", 500: "api_error", 504: "timeout_error", 529: "overloaded_error"}  # fmt: skip


@dataclass
class Fault:
    """An error in the place of an answer; `code` is `error.details.error_code`.

    `drop` ends the connection without an answer, `cut` in the middle of one; `hang` waits so many seconds before that;
    `page` is what a proxy may answer in the place of the API.
    """

    status: int
    message: str = "no"
    code: str | None = None
    retry_after: str | None = None
    drop: bool = False
    cut: bool = False
    hang: float = 0
    page: str | None = None


@dataclass
class ModelServer:
    """What the server says next, and what it was asked.

    `faults` are used up first, one for each request of messages or of a new batch. A batch ends after so many looks;
    `outcomes` may give a custom_id another result than success: errored (`errors` its type and message), expired,
    canceled, or none at all: omitted. So many times as `cut_results` says, results break off in the middle; `archived` batches have none.
    """

    reply: Reply
    faults: list[Fault] = field(default_factory=list)
    looks: int = 1
    outcomes: dict[str, str] = field(default_factory=dict)
    page: int = 2
    lose_next_batch: bool = False
    errors: dict[str, tuple[str, str]] = field(default_factory=dict)
    cut_results: int = 0
    archived: bool = False
    asked: list[dict[str, Any]] = field(default_factory=list)
    batches: dict[str, dict[str, Any]] = field(default_factory=dict)
    url: str = ""

    def message(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return the message that answers parameters."""
        said = self.reply(params)
        prompt = len(json.dumps(params["messages"])) // 4
        prefix = len(json.dumps(params["system"])) // 4
        usage = {"input_tokens": prompt, "output_tokens": len(said.get("text", "")) // 4 + 1}
        usage |= {"cache_creation_input_tokens": prefix, "cache_read_input_tokens": 0} | said.get("usage", {})
        return {
            "id": f"msg_{len(self.asked)}",
            "type": "message",
            "role": "assistant",
            "model": params["model"] + "-20260901",
            "content": [{"type": "text", "text": said.get("text", "")}],
            "stop_reason": said.get("stop_reason", "end_turn"),
            "stop_sequence": None,
            "usage": usage,
        }


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, *_: Any) -> None:
        pass

    def do_POST(self) -> None:
        state = self.server.state
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self._refused():
            return
        if state.faults:
            self._fault(state.faults.pop(0))
        elif self.path == "/v1/messages":
            if problem := _problem(body):
                self._error(400, problem)
            else:
                state.asked.append(body)
                self._json(200, state.message(body))
        elif self.path == "/v1/messages/batches":
            self._create(body["requests"])
        else:
            self._error(404, self.path)

    def do_GET(self) -> None:
        state = self.server.state
        if self._refused():
            return
        path, _, query = self.path.partition("?")
        match path.split("/")[3:]:
            case ["batches"]:
                self._list(query)
            case ["batches", name] if name in state.batches:
                state.batches[name]["looks"] += 1
                self._json(200, self._batch(name))
            case ["batches", name, "results"] if name in state.batches:
                self._results(name)
            case _:
                self._error(404, self.path)

    def _create(self, requests: list[dict[str, Any]]) -> None:
        state = self.server.state
        ids = [request["custom_id"] for request in requests]
        problems = [problem for request in requests if (problem := _problem(request["params"]))]
        if len(set(ids)) < len(ids) or not all(_CUSTOM_ID.fullmatch(one) for one in ids) or problems:
            self._error(400, f"requests: {problems or ids}")
            return
        state.asked += [request["params"] for request in requests]
        name = f"msgbatch_{len(state.batches)}"
        state.batches[name] = {"requests": requests, "looks": 0}
        if state.lose_next_batch:
            state.lose_next_batch = False
            self.close_connection = True
            return
        self._json(200, self._batch(name))

    def _batch(self, name: str) -> dict[str, Any]:
        state = self.server.state
        ended = state.batches[name]["looks"] >= state.looks
        number = len(state.batches[name]["requests"])
        counts = {"processing": 0 if ended else number, "succeeded": number if ended else 0}
        return {
            "id": name,
            "type": "message_batch",
            "processing_status": "ended" if ended else "in_progress",
            "request_counts": counts | {"errored": 0, "canceled": 0, "expired": 0},
            "created_at": "2026-11-22T10:00:00Z",
            "expires_at": "2026-11-23T10:00:00Z",
            "ended_at": "2026-11-22T10:05:00Z" if ended else None,
            "archived_at": "2026-12-22T10:00:00Z" if state.archived else None,
            "cancel_initiated_at": None,
            "results_url": f"{state.url}/v1/messages/batches/{name}/results" if ended and not state.archived else None,
        }

    def _list(self, query: str) -> None:
        state = self.server.state
        names = list(reversed(state.batches))
        after = re.search(r"after_id=([^&]+)", query)
        start = names.index(after[1]) + 1 if after else 0
        page = names[start : start + state.page]
        more = start + state.page < len(names)
        data = [self._batch(name) for name in page]
        self._json(200, {"data": data, "has_more": more, "first_id": page[0] if page else None,
                         "last_id": page[-1] if page else None})  # fmt: skip

    def _results(self, name: str) -> None:
        state = self.server.state
        lines = []
        for request in reversed(state.batches[name]["requests"]):
            if state.outcomes.get(request["custom_id"]) == "omitted":
                continue
            result: dict[str, Any] = {"type": state.outcomes.get(request["custom_id"], "succeeded")}
            if result["type"] == "succeeded":
                result["message"] = state.message(request["params"])
            elif result["type"] == "errored":
                told = state.errors.get(request["custom_id"], ("invalid_request_error", "this one is too much"))
                error = dict(zip(("type", "message"), told, strict=True))
                result["error"] = {"type": "error", "error": error, "request_id": None}
            lines.append(json.dumps({"custom_id": request["custom_id"], "result": result}))
        content = ("\n".join(lines) + "\n").encode()
        cut = state.cut_results > 0
        state.cut_results -= cut
        self._send(200, content, "application/x-jsonl", cut=cut)

    def _refused(self) -> bool:
        key = self.headers.get("x-api-key") or (self.headers.get("authorization") or "").removeprefix("Bearer ")
        if key != KEY or not self.headers.get("anthropic-version"):
            self._error(401, "invalid key")
            return True
        return False

    def _fault(self, fault: Fault) -> None:
        time.sleep(fault.hang)
        if fault.drop:
            self.close_connection = True
        elif fault.cut:
            self._send(200, b'{"type": "message", "content": []}', "application/json", cut=True)
        elif fault.page is not None:
            self._send(200, fault.page.encode(), "text/html")
        else:
            self._error(fault.status, fault.message, fault.code, fault.retry_after)

    def _error(self, status: int, message: str, code: str | None = None, retry_after: str | None = None) -> None:
        error: dict[str, Any] = {"type": _TYPES[status], "message": message}
        if code:
            error["details"] = {"error_code": code}
        headers = {"retry-after": retry_after} if retry_after else {}
        self._json(status, {"type": "error", "error": error, "request_id": "req_1"}, headers)

    def _json(self, status: int, value: Any, headers: dict[str, str] | None = None) -> None:
        self._send(status, json.dumps(value).encode(), "application/json", headers)

    def _send(
        self, status: int, content: bytes, kind: str, headers: dict[str, str] | None = None, cut: bool = False
    ) -> None:
        self.send_response(status)
        for name, value in ({"content-type": kind, "content-length": str(len(content))} | (headers or {})).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content[: len(content) // 2] if cut else content)
        self.close_connection = self.close_connection or cut


def _problem(params: dict[str, Any]) -> str | None:
    """Say what the API would not take of the parameters of a message."""
    if not isinstance(params.get("max_tokens"), int) or not params.get("model") or not params.get("messages"):
        return "max_tokens, model and messages are required"
    if "temperature" in params:
        return "temperature: not taken by this model"
    schema = params["output_config"]["format"]["schema"]
    closed = schema.get("type") != "object" or schema.get("additionalProperties") is False
    return None if closed else "output_config.format.schema: additionalProperties must be false"


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    state: ModelServer


@contextmanager
def serving(state: ModelServer) -> Iterator[ModelServer]:
    """Serve on a port of loopback."""
    server = _Server(("127.0.0.1", 0), _Handler)
    server.state = state
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    with on_loopback(server):
        yield state
