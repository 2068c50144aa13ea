"""What a model answered, kept under the hash of what it was asked: nothing is paid for twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import msgspec
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pipeline.core.credentials import cut
from pipeline.llm.client.ask import AskFailure, Failure, Form
from pipeline.llm.client.client import FOREIGN, Foreign
from pipeline.llm.client.rules import Tokens
from pipeline.llm.client.store import Store

_COMPLETE = "end_turn"
_REASONS = {"refusal": AskFailure.REFUSED, "max_tokens": AskFailure.CUT_OFF}
_OF_CHAT = {"stop": _COMPLETE, "length": "max_tokens", "content_filter": "refusal"}
_Count = Annotated[int, Field(ge=0, le=10**9)]


class Answer(msgspec.Struct, frozen=True):
    """An answer as it came: its text, why it ended, what it used and cost in nano-dollars, and who gave it."""

    text: str
    stop_reason: str
    model: str
    input_tokens: int
    output_tokens: int
    cache_write_tokens: int
    cache_read_tokens: int
    nano_usd: int

    @property
    def counted(self) -> Tokens:
        """The tokens by kind, as they are priced."""
        return Tokens(
            input=self.input_tokens,
            output=self.output_tokens,
            cache_write=self.cache_write_tokens,
            cache_read=self.cache_read_tokens,
        )

    @property
    def tokens(self) -> int:
        """All tokens that it took, read, written and cached."""
        return self.input_tokens + self.output_tokens + self.cache_write_tokens + self.cache_read_tokens


class _Read(BaseModel):
    """Base of what is read of a message: the SDK takes what a server sends as it comes, this looks at it."""

    model_config = ConfigDict(from_attributes=True)


class _Usage(_Read):
    input_tokens: _Count
    output_tokens: _Count
    cache_creation_input_tokens: _Count | None = None
    cache_read_input_tokens: _Count | None = None


class _Block(_Read):
    type: str
    text: str | None = None


class _Message(_Read):
    model: str
    content: list[_Block]
    stop_reason: str | None
    usage: _Usage


class _CachedTokens(_Read):
    cached_tokens: _Count | None = None


class _ChatUsage(_Read):
    prompt_tokens: _Count = 0
    completion_tokens: _Count = 0
    prompt_tokens_details: _CachedTokens | None = None


class _ChatMessage(_Read):
    content: str | None = None
    refusal: str | None = None


class _Choice(_Read):
    message: _ChatMessage
    finish_reason: str | None = None


class _ChatCompletion(_Read):
    model: str = ""
    choices: list[_Choice] = Field(min_length=1)
    usage: _ChatUsage | None = None


def answer_of(message: Any, cost: Callable[[Tokens], int]) -> Answer:
    """Return the answer that a message is, with its cost in nano-dollars.

    Errors: Foreign, where it is no message of the Messages API.
    """
    try:
        read = _Message.model_validate(message)
    except ValidationError as error:
        raise Foreign(FOREIGN) from error
    tokens = Tokens(
        input=read.usage.input_tokens,
        output=read.usage.output_tokens,
        cache_write=read.usage.cache_creation_input_tokens or 0,
        cache_read=read.usage.cache_read_input_tokens or 0,
    )
    text = "".join(block.text or "" for block in read.content if block.type == "text")
    return Answer(
        # What is no Unicode in it could not be kept; a server may repeat the key that it was sent.
        text=cut(text.encode(errors="replace").decode()),
        stop_reason=cut(str(read.stop_reason)),
        model=cut(read.model),
        input_tokens=tokens.input,
        output_tokens=tokens.output,
        cache_write_tokens=tokens.cache_write,
        cache_read_tokens=tokens.cache_read,
        nano_usd=cost(tokens),
    )


def answer_of_chat(completion: Any, cost: Callable[[Tokens], int]) -> Answer:
    """Return the answer that a chat completion of OpenAI's protocol is; stop reasons become those of Anthropic.

    Servers that count no tokens cost nothing. Errors: Foreign.
    """
    try:
        read = _ChatCompletion.model_validate(completion)
    except ValidationError as error:
        raise Foreign(FOREIGN) from error
    choice, usage = read.choices[0], read.usage or _ChatUsage()
    details = usage.prompt_tokens_details
    cached = min((details and details.cached_tokens) or 0, usage.prompt_tokens)
    tokens = Tokens(input=usage.prompt_tokens - cached, output=usage.completion_tokens, cache_read=cached)
    reason = "refusal" if choice.message.refusal else str(choice.finish_reason)
    return Answer(
        text=cut((choice.message.content or "").encode(errors="replace").decode()),
        stop_reason=cut(_OF_CHAT.get(reason, reason)),
        model=cut(read.model),
        input_tokens=tokens.input,
        output_tokens=tokens.output,
        cache_write_tokens=0,
        cache_read_tokens=cached,
        nano_usd=cost(tokens),
    )


def form_of(answer: Answer, form: type[Form]) -> Form | Failure:
    """Read an answer: why it ended comes first, for what was cut off or refused may look like the form."""
    if answer.stop_reason != _COMPLETE:
        kind = _REASONS.get(answer.stop_reason, AskFailure.CUT_OFF)
        return Failure(kind, f"stop_reason {answer.stop_reason}")
    try:
        return form.model_validate_json(answer.text, strict=True)
    except ValidationError as error:
        problems = (f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in error.errors())
        return Failure(AskFailure.NOT_THE_FORM, "; ".join(problems))


_DECODER = msgspec.json.Decoder(Answer)
"""Made once: two threads that meet a type for the first time end the process (msgspec 0.22)."""


class Answers:
    """The answers in a store, by key."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def get(self, key: str) -> Answer | None:
        """Return the answer to a request, if it was ever asked."""
        with self.store.open() as database:
            row = database.execute("SELECT answer FROM answers WHERE key = ?", (key,)).fetchone()
        return _DECODER.decode(row[0]) if row else None

    def keep(self, key: str, answer: Answer) -> None:
        """Keep an answer; one that is there stays."""
        with self.store.open() as database:
            text = msgspec.json.encode(answer).decode()
            database.execute("INSERT OR IGNORE INTO answers VALUES (?, ?)", (key, text))
