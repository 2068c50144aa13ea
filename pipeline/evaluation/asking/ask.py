"""Ask an endpoint for all samples of all prompts, several at a time, until an error that would meet every request."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field

import anthropic

from pipeline.core.progress import ReportProgress
from pipeline.core.vocabularies.evaluation import EndpointProblem
from pipeline.llm.client.answers import Answer
from pipeline.llm.client.ask import AskFailure, Failure
from pipeline.llm.client.chat import Chat, ChatClient, NoServer
from pipeline.llm.client.client import Foreign, SpendLimit, error_message
from pipeline.llm.client.ledger import BudgetReached

_IN_A_ROW = 5
"""Requests in a row that fail alike, each after all its tries: the next would fail too."""
_MESSAGE = 300


@dataclass(frozen=True, slots=True)
class Stop:
    """Why asking ended early: a code, and the message of the endpoint."""

    problem: EndpointProblem
    detail: str


@dataclass
class Collected:
    """The answers by key of the request, failures likewise, and why asking ended early."""

    answers: dict[str, Answer] = field(default_factory=dict)
    failures: dict[str, Failure] = field(default_factory=dict)
    stored: int = 0
    stop: Stop | None = None


def ask_all(chats: Sequence[Chat], client: ChatClient, concurrency: int, report: ReportProgress) -> Collected:
    """Return the answers to requests; those that were stored before are not asked again."""
    collected = Collected()
    with client.paid.answers.store.open():
        collected.answers = {chat.key: answer for chat in chats if (answer := client.stored(chat)) is not None}
    collected.stored = len(collected.answers)
    waiting = [chat for chat in chats if chat.key not in collected.answers]
    run = _Run(collected, client)
    with ThreadPoolExecutor(concurrency) as pool:
        futures = [pool.submit(run.ask, chat) for chat in waiting]
        try:
            for done, future in enumerate(as_completed(futures), 1):
                future.result()
                report(f"asking {chats[0].endpoint.model}", collected.stored + done, len(chats))
        except BaseException:
            run.ended.set()
            pool.shutdown(cancel_futures=True)
            raise
    return collected


@dataclass
class _Run:
    """The state that the threads share."""

    collected: Collected
    client: ChatClient
    ended: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _failed_in_a_row: int = 0

    def ask(self, chat: Chat) -> None:
        if self.ended.is_set():
            return
        try:
            result = self.client.ask(chat)
        except (BudgetReached, SpendLimit, anthropic.AnthropicError) as error:
            self._stop(problem_of(error), _described(error))
            return
        with self._lock:
            if isinstance(result, Answer):
                self.collected.answers[chat.key] = result
                self._failed_in_a_row = 0
                return
            self.collected.failures[chat.key] = result
            self._failed_in_a_row += 1
        # One prompt may be too long; if none at all is taken, the request itself is wrong.
        if self._failed_in_a_row >= _IN_A_ROW and (result.kind is AskFailure.UNREACHABLE or not self.collected.answers):
            unreachable = result.kind is AskFailure.UNREACHABLE
            problem = EndpointProblem.UNREACHABLE if unreachable else EndpointProblem.BAD_REQUESTS
            self._stop(problem, result.detail[:_MESSAGE])

    def _stop(self, problem: EndpointProblem, detail: str) -> None:
        with self._lock:
            self.collected.stop = self.collected.stop or Stop(problem, detail)
            self.ended.set()


def problem_of(error: Exception) -> EndpointProblem:
    """Return the code of an error that ends asking."""
    match error:
        case BudgetReached():
            return EndpointProblem.BUDGET
        case NoServer():
            return EndpointProblem.UNREACHABLE
        case SpendLimit():
            return EndpointProblem.SPEND_LIMIT
        case Foreign():
            return EndpointProblem.NOT_THE_PROTOCOL
        case anthropic.AuthenticationError() | anthropic.PermissionDeniedError():
            return EndpointProblem.WRONG_KEY
        case anthropic.NotFoundError():
            return EndpointProblem.NO_SUCH_MODEL
    return EndpointProblem.REFUSED


def _described(error: Exception) -> str:
    status = f"status {error.status_code}: " if isinstance(error, anthropic.APIStatusError) else ""
    return status + error_message(error)[:_MESSAGE]


def costs(answers: Iterable[Answer], client: ChatClient) -> int:
    """Return what answers cost at the client's price, in nano-dollars, whenever they were paid."""
    return sum(client.cost(answer.counted) for answer in answers)
