"""One paid request: its worst case is reserved, its answer stored, its cost settled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import anthropic

from pipeline.llm.client.answers import Answer, Answers
from pipeline.llm.client.ask import AskFailure, Failure
from pipeline.llm.client.client import (
    Client,
    SpendLimit,
    error_message,
    is_of_the_moment,
    is_to_blame,
    may_be_charged,
)
from pipeline.llm.client.ledger import Ledger


@dataclass
class PaidClient:
    """Sends single requests and stores their answers; `requests` counts those that went out."""

    client: Client
    answers: Answers
    ledger: Ledger
    requests: int = 0

    def ask(
        self, key: str, worst_nano_usd: int, send: Callable[[], Any], read: Callable[[Any], Answer]
    ) -> Answer | Failure:
        """Send one request, again where that may help, and return its answer, or why the request has none.

        The worst case is reserved for each time that it may be answered and charged. Errors: BudgetReached, SpendLimit,
        and those of the SDK that are no fault of the request.
        """
        reserved: list[str] = []

        def again(error: BaseException) -> None:
            if may_be_charged(error):
                self.ledger.lose(reserved)
                reserved[:] = [self.ledger.reserve(worst_nano_usd)]

        reserved.append(self.ledger.reserve(worst_nano_usd))
        self.requests += 1
        try:
            answer = read(self.client.call(send, again=again))
        except (SpendLimit, anthropic.AnthropicError) as error:
            if may_be_charged(error):
                self.ledger.lose(reserved)
            else:
                for reservation in reserved:
                    self.ledger.settle(reservation, 0)
            if not is_to_blame(error) and not is_of_the_moment(error):
                raise
            kind = AskFailure.BAD_REQUEST if is_to_blame(error) else AskFailure.UNREACHABLE
            return Failure(kind, error_message(error))
        with self.ledger.store.open():
            self.answers.keep(key, answer)
            self.ledger.settle(reserved[0], answer.nano_usd)
        return answer
