"""What a model answered, kept under the hash of what it was asked: nothing is paid for twice."""

from __future__ import annotations

import msgspec
from anthropic.types import Message

from pipeline.drafting.model.rules import ModelRules, Tokens
from pipeline.drafting.model.store import Store


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
    def tokens(self) -> int:
        """All tokens that it took, read, written and cached."""
        return self.input_tokens + self.output_tokens + self.cache_write_tokens + self.cache_read_tokens


def answer_of(message: Message, asked: str, rules: ModelRules, *, batch: bool) -> Answer:
    """Return the answer that a message is, with what it cost; `asked` is the model by the name that has a price."""
    usage = message.usage
    tokens = Tokens(
        input=usage.input_tokens,
        output=usage.output_tokens,
        cache_write=usage.cache_creation_input_tokens or 0,
        cache_read=usage.cache_read_input_tokens or 0,
    )
    text = "".join(block.text for block in message.content if block.type == "text")
    return Answer(
        # What is no Unicode in it could not be kept.
        text=text.encode(errors="replace").decode(),
        stop_reason=str(message.stop_reason),
        model=message.model,
        input_tokens=tokens.input,
        output_tokens=tokens.output,
        cache_write_tokens=tokens.cache_write,
        cache_read_tokens=tokens.cache_read,
        nano_usd=rules.cost(asked, tokens, batch=batch),
    )


class Answers:
    """The answers in a store, by key."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def get(self, key: str) -> Answer | None:
        """Return the answer to a request, if it was ever asked."""
        with self.store.open() as database:
            found = database.execute("SELECT answer FROM answers WHERE key = ?", (key,)).fetchone()
        return msgspec.json.decode(found[0], type=Answer) if found else None

    def keep(self, key: str, answer: Answer) -> None:
        """Keep an answer; one that is there stays."""
        with self.store.open() as database:
            text = msgspec.json.encode(answer).decode()
            database.execute("INSERT OR IGNORE INTO answers VALUES (?, ?)", (key, text))
