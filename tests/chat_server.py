"""A scripted model on loopback that speaks both protocols: chat completions of OpenAI, and messages of Anthropic."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.loopback import on_loopback
from tests.model_server import KEY, Fault

Script = Callable[[str], str]
"""Makes the answer to a prompt."""


@dataclass
class ChatServer:
    """What it answers, and what it was asked: bodies of the requests that were answered, headers of all.

    `faults` are used up first, one a request; `always` is a fault that every request meets. `ends` is how an answer
    ends, in the words of the protocol. `slow` is the time of an answer in seconds.
    """

    script: Script
    faults: list[Fault] = field(default_factory=list)
    always: Fault | None = None
    ends: str | None = None
    slow: float = 0
    counts_tokens: bool = True
    asked: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0
    url: str = ""
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def openai(self) -> str:
        return f"{self.url}/v1"

    @property
    def prompts(self) -> list[str]:
        return [body["messages"][-1]["content"] for body in self.asked]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, *_: Any) -> None:
        pass

    def do_POST(self) -> None:
        state = self.server.state
        with state.lock:
            state.at_once += 1
            state.most_at_once = max(state.at_once, state.most_at_once)
        try:
            self._answer(state)
        finally:
            with state.lock:
                state.at_once -= 1

    def _answer(self, state: ChatServer) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        state.headers.append({name.lower(): value for name, value in self.headers.items()})
        time.sleep(state.slow)
        with state.lock:
            fault = state.faults.pop(0) if state.faults else state.always
        if self.headers.get("authorization") != f"Bearer {KEY}":
            self._error(Fault(401, f"invalid key {self.headers.get('authorization')}"))
        elif self.path not in ("/v1/chat/completions", "/v1/messages"):
            self._error(Fault(404, f"no route {self.path}"))
        elif fault:
            self._fault(fault)
        else:
            with state.lock:
                state.asked.append(body)
            text = state.script(body["messages"][-1]["content"])
            made = _chat if self.path == "/v1/chat/completions" else _message
            self._send(200, json.dumps(made(body, text, state)).encode(), "application/json")

    def _fault(self, fault: Fault) -> None:
        time.sleep(fault.hang)
        if fault.drop:
            self.close_connection = True
        elif fault.cut:
            self._send(200, b'{"id": "1", "choices": []}', "application/json", cut=True)
        elif fault.page is not None:
            self._send(200, fault.page.encode(), "text/html")
        else:
            self._error(fault)

    def _error(self, fault: Fault) -> None:
        error = {"message": fault.message, "type": "invalid_request_error", "code": fault.code}
        headers = {"retry-after": fault.retry_after} if fault.retry_after else {}
        self._send(fault.status, json.dumps({"error": error}).encode(), "application/json", headers)

    def _send(
        self, status: int, content: bytes, kind: str, headers: dict[str, str] | None = None, cut: bool = False
    ) -> None:
        self.send_response(status)
        for name, value in ({"content-type": kind, "content-length": str(len(content))} | (headers or {})).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content[: len(content) // 2] if cut else content)
        self.close_connection = self.close_connection or cut


def _chat(body: dict[str, Any], text: str, state: ChatServer) -> dict[str, Any]:
    details = {"prompt_tokens_details": {"cached_tokens": 40}}
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110, **details}
    message = {"role": "assistant", "content": text, "refusal": None}
    choice = {"index": 0, "message": message, "finish_reason": state.ends or "stop"}
    made = {"id": "1", "object": "chat.completion", "created": 1, "model": body["model"], "choices": [choice]}
    return made | ({"usage": usage} if state.counts_tokens else {})


def _message(body: dict[str, Any], text: str, state: ChatServer) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [{"type": "thinking", "thinking": "hm", "signature": ""}, {"type": "text", "text": text}],
        "stop_reason": state.ends or "end_turn",
        "usage": {"input_tokens": 60, "output_tokens": 10, "cache_read_input_tokens": 40},
    }


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    state: ChatServer


@contextmanager
def serving_chat(script: Script, **fields: Any) -> Iterator[ChatServer]:
    """Serve on a port of loopback."""
    state = ChatServer(script, **fields)
    server = _Server(("127.0.0.1", 0), _Handler)
    server.state = state
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    with on_loopback(server):
        yield state
