"""A prompt to any model of an OpenAI-compatible or Anthropic endpoint, without a form for the answer."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import anthropic
import httpx2

from pipeline.core.credentials import cut_message
from pipeline.core.errors import CodedError
from pipeline.core.settings import SettingsError
from pipeline.core.vocabularies.evaluation import Protocol
from pipeline.lake.ids import sha256_json
from pipeline.llm.client.answers import Answer, answer_of, answer_of_chat
from pipeline.llm.client.ask import Failure
from pipeline.llm.client.client import error_message, is_spend_limit, requested_pause, was_not_sent
from pipeline.llm.client.paid import PaidClient
from pipeline.llm.client.rules import Price, Tokens

_PATHS = {Protocol.OPENAI: "/chat/completions", Protocol.ANTHROPIC: "/v1/messages"}
_LIMITED_S = 900.0
"""How long one request waits for an endpoint that limits requests."""


class NoServer(CodedError, anthropic.AnthropicError):
    """Nothing listens at the address, and nothing did since asking began: trying again would only take time."""

    code = "model_no_server"


@dataclass(frozen=True)
class Endpoint:
    """A model at a base address, and the parameters of every request, such as `max_tokens`."""

    protocol: Protocol
    url: str
    model: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True)
class Chat:
    """One sample of the answer to a prompt; `sample` counts from 0, so that each is an answer of its own."""

    endpoint: Endpoint
    system: str | None
    prompt: str
    sample: int = 0

    @cached_property
    def key(self) -> str:
        """The key of the stored answer: all that the answer depends on, and the number of the sample."""
        endpoint = self.endpoint
        parameters = json.dumps(endpoint.parameters, sort_keys=True)
        request = [endpoint.protocol, endpoint.url, endpoint.model, parameters, self.system, self.prompt]
        return sha256_json([*request, self.sample])

    @cached_property
    def body(self) -> dict[str, Any]:
        """The body of the request."""
        endpoint = self.endpoint
        messages = [{"role": "user", "content": self.prompt}]
        body: dict[str, Any] = {"model": endpoint.model, "messages": messages, **endpoint.parameters}
        if self.system is not None and endpoint.protocol is Protocol.ANTHROPIC:
            body["system"] = self.system
        elif self.system is not None:
            body["messages"] = [{"role": "system", "content": self.system}, *messages]
        return body

    @property
    def most_input_tokens(self) -> int:
        """No fewer than the tokens of the prompt: a token is at least a byte of what is sent."""
        return len(json.dumps(self.body, ensure_ascii=False).encode())


@dataclass
class ChatClient:
    """Asks one endpoint, in several threads. An endpoint that limits requests makes all threads wait.

    Without a `price` nothing is reserved, and answers cost 0.
    """

    paid: PaidClient
    price: Price | None
    _open_at: float = 0.0
    _answered: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def stored(self, chat: Chat) -> Answer | None:
        """Return the answer to a prompt that was asked before."""
        return self.paid.answers.get(chat.key)

    def ask(self, chat: Chat) -> Answer | Failure:
        """Ask, and store the answer. Errors: those of `PaidClient.ask`."""
        read = answer_of if chat.endpoint.protocol is Protocol.ANTHROPIC else answer_of_chat
        return self.paid.ask(
            chat.key, self.worst(chat), lambda: self._send(chat), lambda message: read(message, self.cost)
        )

    def worst(self, chat: Chat) -> int:
        """Return the most that a request may cost, in nano-dollars."""
        return self.cost(Tokens(input=chat.most_input_tokens, output=_most_output(chat.endpoint.parameters)))

    def cost(self, tokens: Tokens) -> int:
        """Return what tokens cost, in nano-dollars."""
        return self.price.cost(tokens) if self.price else 0

    def _send(self, chat: Chat) -> Any:
        """Send a request once, and again for as long as the endpoint says when: such a pause is no failed try."""
        rules, until = self.paid.client.rules, time.monotonic() + _LIMITED_S
        while True:
            time.sleep(max(0.0, self._open_at - time.monotonic()))
            try:
                message = self.paid.client.sdk.post(_PATHS[chat.endpoint.protocol], cast_to=object, body=chat.body)
            except anthropic.RateLimitError as error:
                pause_s = requested_pause(error)
                if pause_s is None or is_spend_limit(error) or time.monotonic() + pause_s > until:
                    raise
                with self._lock:
                    self._open_at = max(self._open_at, time.monotonic() + min(pause_s, rules.longest_pause_s))
                continue
            except anthropic.APIConnectionError as error:
                if not self._answered and was_not_sent(error):
                    raise NoServer(error_message(error)) from error
                raise
            self._answered = True
            return message


def _most_output(parameters: Mapping[str, Any]) -> int:
    """Return the bound of the answer in tokens; reasoning models of OpenAI have another name for it."""
    bounds = (parameters.get(name) for name in ("max_tokens", "max_completion_tokens"))
    return max((bound for bound in bounds if isinstance(bound, int)), default=0)


def sdk_for(endpoint: Endpoint, key: str, timeout_s: float) -> anthropic.Anthropic:
    """Return the SDK whose transport, errors and headers serve both protocols: the key is a bearer token.

    Errors: SettingsError for an address that is none.
    """
    try:
        # The client tries again, not the SDK: it would repeat what a spending limit refused.
        return anthropic.Anthropic(api_key=key, base_url=endpoint.url, max_retries=0, timeout=timeout_s)
    except httpx2.InvalidURL as error:
        raise SettingsError(
            cut_message(f"{endpoint.url} is no address: {error}"), code="model_address_invalid"
        ) from None
