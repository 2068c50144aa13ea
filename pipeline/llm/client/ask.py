"""What a model is asked: one request, by the hash of all that its answer depends on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
from pydantic import BaseModel

from pipeline.core.vocabularies.term import Term
from pipeline.lake.ids import sha256_json

Form = TypeVar("Form", bound=BaseModel)


class AskFailure(Term):
    """Why there is no answer that can be used."""

    REFUSED = "refused", "the model declined to answer"
    CUT_OFF = "cut_off", "the answer reached its bound before its end"
    NOT_THE_FORM = "not_the_form", "the answer does not fit the schema"
    BAD_REQUEST = "bad_request", "the provider did not take the request"
    EXPIRED = "expired", "the batch ended before the request was looked at"
    WAITING = "waiting", "the batch has not ended, or the budget is used up: a later run asks"
    UNREACHABLE = "unreachable", "the provider was out of reach, or overloaded, at each try"


@dataclass(frozen=True)
class Ask(Generic[Form]):
    """A request: who is asked, the instructions that many requests share, the data of this one, and the answer's form.

    `instructions` are the cached prefix; crawled text belongs in `data` only. `schema` is the form as it is sent, by
    JSON schema, and `form` reads the answer. `max_tokens` bounds the answer.
    """

    subject_id: str
    model: str
    instructions: str
    data: str
    form: type[Form]
    schema: Mapping[str, Any]
    max_tokens: int

    @cached_property
    def prompt_sha256(self) -> str:
        """Hash of what the model reads."""
        return sha256_json([self.instructions, self.data])

    @cached_property
    def key(self) -> str:
        """What the answer is stored under, and its name in a batch: model, prompt, schema and bound; of no subject."""
        # As text: a model writes the properties in their order.
        return sha256_json([self.model, self.prompt_sha256, json.dumps(self.schema), self.max_tokens])

    @cached_property
    def params(self) -> MessageCreateParamsNonStreaming:
        """The parameters of the Messages API."""
        # The instructions are marked for the provider's cache, which takes prefixes of 1,024 to 4,096 tokens and more,
        # by model. Shorter ones, as most of ours are, go at the plain price, and the mark costs nothing.
        return {
            "model": self.model,
            "max_tokens": self.max_tokens,
            "system": [{"type": "text", "text": self.instructions, "cache_control": {"type": "ephemeral"}}],
            "messages": [{"role": "user", "content": self.data}],
            "output_config": {"format": {"type": "json_schema", "schema": dict(self.schema)}},
        }

    @property
    def most_input_tokens(self) -> int:
        """No fewer than the tokens of the prompt: a token is at least a byte of what is sent."""
        return len(json.dumps(self.params, ensure_ascii=False).encode())


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no answer: one of a closed set, and what was said."""

    kind: AskFailure
    detail: str
