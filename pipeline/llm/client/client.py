"""The Anthropic API as we use it: one request at a time, tried again where that helps, and never where money ended."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TypeVar

import anthropic
import httpx2
from anthropic.types.shared import ContractSpendLimitReachedError, EnforcedSpendLimitReachedError
from tenacity import RetryCallState, Retrying, retry_if_exception, stop_after_attempt, wait_exponential_jitter

from pipeline.core.credentials import cut_message
from pipeline.core.errors import CodedError, FatalError
from pipeline.core.settings import SettingsError
from pipeline.llm.client.rules import ModelRules

Result = TypeVar("Result")

_SPEND_LIMITS = (EnforcedSpendLimitReachedError, ContractSpendLimitReachedError)
# A limit that somebody set in the console, and credit that is used up, are a 400 without a code of its own.
_OWN_LIMIT = (
    "you have reached your specified api usage limits",
    "you have reached your specified workspace api usage",
    "your credit balance is too low",
)
_NO_CREDIT = "insufficient_quota"
_AFTER = "retry-after"
_OVERLOADED = 529
_BAD_REQUEST = 400
# too large; not to be processed
_UNFIT = frozenset({413, 422})
_NOT_SENT = (
    httpx2.ConnectError,
    httpx2.ConnectTimeout,
    httpx2.PoolTimeout,
    httpx2.UnsupportedProtocol,
)
FOREIGN = "the answer is not one of the protocol: is the base address (ANTHROPIC_BASE_URL) that of such a server?"
# Of a batch's results: what the request itself is to blame for. The rest may pass, or is for a person to put right.
_OF_THE_REQUEST = frozenset({"invalid_request_error", "request_too_large"})


class Broken(CodedError, anthropic.AnthropicError):
    """An answer began, and broke off."""

    code = "model_answer_broken_off"


class Foreign(CodedError, anthropic.AnthropicError):
    """Somebody else than the API answered, as a proxy does."""

    code = "model_answer_foreign"


class SpendLimit(FatalError):
    """The provider takes no more of our money for now: drafting ends, and nothing is tried again."""

    code = "model_spend_limit"


class Client:
    """The Messages API; `ANTHROPIC_API_KEY` and `ANTHROPIC_BASE_URL` say who asks, and whom.

    Errors: SettingsError, where the latter is no address.
    """

    def __init__(self, rules: ModelRules, sdk: anthropic.Anthropic | None = None) -> None:
        self.rules = rules
        self.sdk = sdk or _sdk()
        self.retries = 0

    def call(
        self,
        function: Callable[[], Result],
        *,
        once: bool = False,
        again: Callable[[BaseException], None] | None = None,
    ) -> Result:
        """Call the API, again where that may help, waiting as long as it says or longer each time.

        What must not arrive twice (`once`) is tried again only where it is certain that it did not arrive. `again` gets
        each error before the request is sent once more. Errors: SpendLimit; Foreign; those of the SDK, and Broken,
        after the rules' number of tries where trying again may help.
        """

        def before(state: RetryCallState) -> None:
            self.retries += 1
            if again and state.outcome and (error := state.outcome.exception()):
                again(error)

        retrying = Retrying(
            stop=stop_after_attempt(self.rules.tries),
            wait=self._pause,
            retry=retry_if_exception(lambda error: _may_help(error) and not (once and may_have_arrived(error))),
            before_sleep=before,
            reraise=True,
        )
        try:
            done: Result = retrying(_whole, function)
            return done
        except anthropic.APIStatusError as error:
            if is_spend_limit(error):
                raise SpendLimit(error_message(error)) from error
            raise

    def _pause(self, state: RetryCallState) -> float:
        """Return how long to wait, in seconds: what the answer asks for, else longer each time."""
        error = state.outcome.exception() if state.outcome else None
        pause_s = requested_pause(error)
        if pause_s is None:
            pause_s = wait_exponential_jitter(initial=1, max=self.rules.longest_pause_s)(state)
        return max(0.0, min(pause_s, self.rules.longest_pause_s))


def requested_pause(error: BaseException | None) -> float | None:
    """Return the pause in seconds that an error asks for, None where it does not."""
    retry_after = error.response.headers.get(_AFTER) if isinstance(error, anthropic.APIStatusError) else None
    try:
        return max(0.0, float(retry_after)) if retry_after is not None else None
    except ValueError:
        return None


def _sdk() -> anthropic.Anthropic:
    try:
        # The SDK would try again what a spending limit refused: both have status 429.
        return anthropic.Anthropic(max_retries=0)
    except httpx2.InvalidURL as error:
        raise SettingsError(
            cut_message(f"ANTHROPIC_BASE_URL is no address: {error}"), code="model_address_invalid"
        ) from None


def _whole(function: Callable[[], Result]) -> Result:
    """Call, with an answer that breaks off while it is read as an error that says so."""
    try:
        done = function()
    except (httpx2.HTTPError, httpx2.StreamError, json.JSONDecodeError) as error:
        raise Broken(f"the answer broke off: {error}") from error
    except anthropic.APIConnectionError as error:
        if isinstance(error.__cause__, httpx2.LocalProtocolError):
            # what it says holds the key
            raise Foreign(
                "the API key (ANTHROPIC_API_KEY, or OPENAI_API_KEY) holds a blank or a line feed where none may be",
                code="api_key_invalid",
            ) from None
        raise
    if isinstance(done, str):
        raise Foreign(FOREIGN)
    return done


def _may_help(error: BaseException) -> bool:
    """Say whether the same request may succeed later; spending limits are asked for first, as they are 429 too."""
    if isinstance(error, anthropic.APIStatusError):
        return not is_spend_limit(error) and may_pass(error)
    return _broke(error)


def may_pass(error: anthropic.APIStatusError) -> bool:
    """Say whether an error is of the moment."""
    return error.status_code in {408, 409, 429} or error.status_code >= 500


def may_have_arrived(error: BaseException) -> bool:
    """Say whether a request may have been taken, though no answer came of it: the line broke, or the server did."""
    if isinstance(error, anthropic.APIStatusError):
        return error.status_code >= 500 and error.status_code != _OVERLOADED
    return _broke(error) and not was_not_sent(error)


def was_not_sent(error: BaseException) -> bool:
    """Say whether no connection came about, so that nothing was sent."""
    return isinstance(error.__cause__, _NOT_SENT)


def may_be_charged(error: BaseException) -> bool:
    """Say whether a single request may have been answered, and charged, though no answer came; errors cost nothing."""
    return not isinstance(error, anthropic.APIStatusError) and may_have_arrived(error)


def _broke(error: BaseException) -> bool:
    return isinstance(error, anthropic.APIConnectionError | Broken)


def is_of_the_moment(error: BaseException) -> bool:
    """Say whether the same request may succeed later."""
    return _broke(error) or (isinstance(error, anthropic.APIStatusError) and may_pass(error))


def is_to_blame(error: BaseException) -> bool:
    """Say whether a single request itself is to blame for an error, so that asking again would bring it once more.

    What the provider says of a key, an account or an address, or a proxy of anything, says nothing of the request.
    """
    if not isinstance(error, anthropic.APIStatusError) or is_spend_limit(error):
        return False
    if error.status_code == _BAD_REQUEST:
        code = error.error_code
        return isinstance(error.body, dict) and (code is None or code.startswith("request_body_"))
    return error.status_code in _UNFIT


def is_of_the_request(kind: str, message: str) -> bool:
    """Say whether an error within a batch is the request's own, which asking again would bring once more."""
    return kind in _OF_THE_REQUEST and not is_money(kind, message)


def is_money(kind: str, message: str) -> bool:
    """Say whether an error within a batch means that the provider takes no more of our money."""
    return kind == "billing_error" or message.lower().startswith(_OWN_LIMIT)


def is_spend_limit(error: anthropic.APIStatusError) -> bool:
    """Say whether the provider takes no more of our money."""
    own = error.status_code == _BAD_REQUEST and error_message(error).lower().startswith(_OWN_LIMIT)
    # 402: no credit, or the limit of an organization that this one is linked to
    # OpenAI's code of an account without credit, a 429
    no_credit = isinstance(error.body, dict) and _NO_CREDIT in str(error.body.get("error"))
    return isinstance(error, (*_SPEND_LIMITS, anthropic.PaymentRequiredError)) or own or no_credit


def error_message(error: BaseException) -> str:
    """Return what an error says, with what it was caused by where it does not say that, and without credentials."""
    if isinstance(error, anthropic.APIStatusError):
        return cut_message(str(error.api_message or error.message))
    caused = f" ({error.__cause__})" if isinstance(error, anthropic.APIConnectionError) and error.__cause__ else ""
    return cut_message(f"{error}{caused}")
