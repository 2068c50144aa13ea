"""The Anthropic API as we use it: one request at a time, tried again where that helps, and never where money ended."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import anthropic
from anthropic.types import Message
from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
from anthropic.types.shared import ContractSpendLimitReachedError, EnforcedSpendLimitReachedError
from tenacity import RetryCallState, Retrying, retry_if_exception, stop_after_attempt, wait_exponential_jitter

from pipeline.drafting.model.rules import ModelRules

Result = TypeVar("Result")

_SPEND_LIMITS = (EnforcedSpendLimitReachedError, ContractSpendLimitReachedError)
# A limit that somebody set in the console is a 400 without a code of its own.
_OWN_LIMIT = ("you have reached your specified api usage limits", "you have reached your specified workspace api usage")
_AFTER = "retry-after"
_OVERLOADED = 529


class SpendLimit(RuntimeError):
    """The provider takes no more of our money for now: drafting ends, and nothing is tried again."""


class Client:
    """The Messages API; `ANTHROPIC_API_KEY` and `ANTHROPIC_BASE_URL` say who asks, and whom."""

    def __init__(self, rules: ModelRules, sdk: anthropic.Anthropic | None = None) -> None:
        self.rules = rules
        # The SDK would try again what a spending limit refused: both have status 429.
        self.sdk = sdk or anthropic.Anthropic(max_retries=0)
        self.retries = 0

    def message(self, params: MessageCreateParamsNonStreaming) -> Message:
        """Ask for one message.

        Errors: SpendLimit; those of the SDK, after the rules' number of tries where trying again may help.
        """
        message: Message = self.call(lambda: self.sdk.messages.create(**params))
        return message

    def call(self, function: Callable[[], Result], *, once: bool = False) -> Result:
        """Call the API, again where that may help, waiting as long as it says or longer each time.

        What must not arrive twice (`once`) is tried again only where it is certain that it did not arrive.
        """
        retrying = Retrying(
            stop=stop_after_attempt(self.rules.tries),
            wait=self._pause,
            retry=retry_if_exception(lambda error: _may_help(error) and not (once and may_have_arrived(error))),
            before_sleep=self._count,
            reraise=True,
        )
        try:
            return retrying(function)
        except anthropic.APIStatusError as error:
            if _is_spend_limit(error):
                raise SpendLimit(_said(error)) from error
            raise

    def _count(self, _: RetryCallState) -> None:
        self.retries += 1

    def _pause(self, state: RetryCallState) -> float:
        """Return how long to wait, in seconds: what the answer asks for, else longer each time."""
        error = state.outcome.exception() if state.outcome else None
        asked = error.response.headers.get(_AFTER) if isinstance(error, anthropic.APIStatusError) else None
        try:
            wanted = float(asked) if asked is not None else None
        except ValueError:
            wanted = None
        if wanted is None:
            wanted = wait_exponential_jitter(initial=1, max=self.rules.longest_pause_s)(state)
        return max(0.0, min(wanted, self.rules.longest_pause_s))


def _may_help(error: BaseException) -> bool:
    """Say whether the same request may succeed later; spending limits are asked for first, as they are 429 too."""
    if isinstance(error, anthropic.APIStatusError):
        return not _is_spend_limit(error) and (error.status_code in {408, 409, 429} or error.status_code >= 500)
    return isinstance(error, anthropic.APIConnectionError)


def may_have_arrived(error: BaseException) -> bool:
    """Say whether a request may have been taken, though no answer came of it: the line broke, or the server did."""
    if isinstance(error, anthropic.APIStatusError):
        return error.status_code >= 500 and error.status_code != _OVERLOADED
    return isinstance(error, anthropic.APIConnectionError)


def _is_spend_limit(error: anthropic.APIStatusError) -> bool:
    said = _said(error).lower()
    own = error.status_code == 400 and said.startswith(_OWN_LIMIT)
    # 402: no credit, or the limit of an organization that this one is linked to
    return isinstance(error, (*_SPEND_LIMITS, anthropic.PaymentRequiredError)) or own


def _said(error: anthropic.APIStatusError) -> str:
    return error.api_message or error.message
