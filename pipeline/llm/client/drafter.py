"""The model as a drafter: what it is asked, from memory where it was asked before, within the budget."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Generic

import anthropic
from anthropic.types import ErrorResponse
from anthropic.types.messages import (
    MessageBatchCanceledResult,
    MessageBatchErroredResult,
    MessageBatchExpiredResult,
    MessageBatchSucceededResult,
)

from pipeline.core.credentials import cut_message
from pipeline.core.vocabularies.drafts import DraftKind
from pipeline.llm.client.answers import Answer, Answers, answer_of, form_of
from pipeline.llm.client.ask import Ask, AskFailure, Failure, Form
from pipeline.llm.client.batches import Batched, Batches
from pipeline.llm.client.client import (
    Client,
    Foreign,
    SpendLimit,
    error_message,
    is_money,
    is_of_the_request,
    may_have_arrived,
)
from pipeline.llm.client.ledger import BudgetReached, Ledger
from pipeline.llm.client.paid import PaidClient
from pipeline.llm.client.rules import ModelRules, Tokens
from pipeline.llm.client.store import Store
from pipeline.llm.client.tally import Tally, added

# So many requests in a row that nobody answers, each tried as often as the rules say: the next would wait for nothing.
_SILENT = 2


@dataclass(frozen=True, slots=True)
class Reply(Generic[Form]):
    """A request with what came of it: the answer in its form, or why there is none; and the answer as it came."""

    ask: Ask[Form]
    form: Form | None
    failure: Failure | None
    answer: Answer | None


@dataclass
class ModelDrafter:
    """Asks a model; `requests` counts what this process asked of the provider, `stopped` says why it ended early.

    `tallies` is for those who judge drafts to count in, by kind of draft.
    """

    client: Client
    answers: Answers
    ledger: Ledger
    batches: Batches
    requests: int = 0
    stopped: str | None = None
    tallies: dict[DraftKind, Tally] = field(default_factory=dict)
    _failures: dict[str, Failure] = field(default_factory=dict)
    _silent: bool = False
    _counted: set[tuple[DraftKind, str]] = field(default_factory=set)

    @property
    def rules(self) -> ModelRules:
        """The rules of money and patience."""
        return self.client.rules

    @property
    def tally(self) -> Tally:
        """The tally of this process over all kinds of drafts."""
        return added(self.tallies_by_kind().values())

    def tallies_by_kind(self) -> dict[DraftKind, Tally]:
        """Return the tallies of this process; the reason why asking ended early is told of each kind."""
        return {kind: replace(tally, stopped=self.stopped) for kind, tally in self.tallies.items()}

    def count(self, kind: DraftKind, tally: Tally) -> None:
        """Add to the tally of a kind."""
        self.tallies[kind] = self.tallies.get(kind, Tally()) + tally

    def first_cost(self, kind: DraftKind, answers: Mapping[str, Answer]) -> int:
        """Return what answers to a kind cost that were not counted yet, in nano-dollars: many may share one."""
        fresh = {key: answer for key, answer in answers.items() if (kind, key) not in self._counted}
        self._counted |= {(kind, key) for key in fresh}
        return sum(answer.nano_usd for answer in fresh.values())

    @contextmanager
    def counting(self, kind: DraftKind) -> Iterator[None]:
        """Count the requests that are made inside for a kind."""
        requests, retries = self.requests, self.client.retries
        try:
            yield
        finally:
            self.count(kind, Tally(requests=self.requests - requests, retries=self.client.retries - retries))

    def ask(self, asks: Sequence[Ask[Form]]) -> list[Reply[Form]]:
        """Ask for what was never asked, and return what came of each request, in their order.

        Requests that are alike are asked once. Where the budget, the provider's spending limit or the patience with a
        batch ends, the rest is WAITING; a later run goes on from there. Where everything was asked before, nobody is.
        """
        self._failures = {}
        missing = self._missing({ask.key: ask for ask in asks})
        if missing and (ended := self.ledger.ended()):
            self.stopped = ended
        elif missing and not self._silent:
            try:
                self._collect()
                self._send(self._missing(missing))
            except SpendLimit as error:
                self.ledger.end(str(error))
                self._stop(error)
            except anthropic.AnthropicError as error:
                self._stop(error)
        with self.answers.store.open():
            return [self._read(ask) for ask in asks]

    def _missing(self, asks: Mapping[str, Ask[Any]]) -> dict[str, Ask[Any]]:
        with self.answers.store.open():
            return {key: ask for key, ask in asks.items() if self.answers.get(key) is None}

    def _send(self, asks: dict[str, Ask[Any]]) -> None:
        under_way = {row.key for row in self.batches.under_way()}
        fresh = {key: ask for key, ask in asks.items() if key not in under_way}
        if len(fresh) >= self.rules.batch_from:
            self._send_batches(fresh)
        else:
            self._send_singly(fresh)
        self._collect(wait_for=asks)

    def _send_singly(self, asks: dict[str, Ask[Any]]) -> None:
        silent = 0
        for key in sorted(asks):
            # Another process may have asked it since we looked.
            if self.answers.get(key) is None:
                self._ask_single(asks[key])
            failure = self._failures.get(key)
            silent = silent + 1 if failure and failure.kind is AskFailure.UNREACHABLE else 0
            if failure and silent == _SILENT:
                self.stopped = self.stopped or failure.detail
                self._silent = True
                return

    def _ask_single(self, ask: Ask[Any]) -> None:
        """Ask one request, with its worst case reserved for each time that it may be answered and charged.

        Errors: those that say nothing of the request itself, and end asking.
        """
        paid = PaidClient(self.client, self.answers, self.ledger)
        try:
            answer = paid.ask(
                ask.key,
                self._worst(ask, batch=False),
                lambda: self.client.sdk.messages.create(**ask.params),
                lambda message: answer_of(message, self._cost(ask.model, batch=False)),
            )
            if isinstance(answer, Failure):
                self._failures[ask.key] = answer
        except BudgetReached as error:
            self._stop(error)
        finally:
            self.requests += paid.requests

    def _send_batches(self, asks: dict[str, Ask[Any]]) -> None:
        for keys in self.batches.parts(asks):
            reserved: dict[str, str] = {}

            def reserve(free: Sequence[str], reserved: dict[str, str] = reserved) -> Mapping[str, str]:
                reserved |= self._reserved({key: asks[key] for key in free})
                return reserved

            try:
                self.requests += self.batches.send({key: asks[key] for key in keys}, reserve)
            except Exception as error:
                self.requests += len(reserved)
                if not may_have_arrived(error):
                    self._settle(reserved.values())
                raise
            if self.stopped:
                return

    def _reserved(self, asks: Mapping[str, Ask[Any]]) -> dict[str, str]:
        """Set money aside for requests that nobody answered meanwhile, while there is some; return it by key."""
        reservations: dict[str, str] = {}
        for key, ask in self._missing(asks).items():
            try:
                reservations[key] = self.ledger.reserve(self._worst(ask, batch=True))
            except BudgetReached as error:
                self._stop(error)
                break
        return reservations

    def _settle(self, reservations: Iterable[str]) -> None:
        for reservation in reservations:
            self.ledger.settle(reservation, 0)

    def _collect(self, wait_for: Collection[str] | None = None) -> None:
        """Take in the results of batches that have ended, those of earlier runs too.

        Where keys are given, only those of the batches that hold them, which are waited for: what else is under way
        may take a day.
        """
        self._settle(row.reservation for row in self.batches.adopt())
        under_way = [row for row in self.batches.under_way() if row.batch is not None]
        names = sorted({str(row.batch) for row in under_way if wait_for is None or row.key in wait_for})
        if wait_for is not None:
            self.batches.wait(names)
        for name in names:
            if not self.batches.ended(name):
                continue
            sent = {row.key: row for row in under_way if row.batch == name}
            results = self.batches.results(name)
            with self.ledger.store.open():
                for result in results or ():
                    if (row := sent.pop(result.custom_id, None)) is not None:
                        self._take_in(row, result.result)
                self._give_up(sent.values())

    def _take_in(self, row: Batched, result: Any) -> None:
        """Keep what came of a request in a batch, and settle its money; what says nothing is given up."""
        match result:
            case MessageBatchSucceededResult(message=message):
                try:
                    answer = answer_of(message, self._cost(row.model, batch=True))
                except Foreign:
                    self._give_up([row])
                    return
                self.answers.keep(row.key, answer)
                self.ledger.settle(row.reservation, answer.nano_usd)
            case MessageBatchErroredResult(error=ErrorResponse(error=error)):
                self._errored(row.key, str(error.type), str(error.message))
                self.ledger.settle(row.reservation, 0)
            case MessageBatchCanceledResult() | MessageBatchExpiredResult():
                self._failures[row.key] = Failure(AskFailure.EXPIRED, f"batch {row.batch}: {result.type}")
                self.ledger.settle(row.reservation, 0)
            case _:
                self._give_up([row])
                return
        self.batches.forget([row.reservation])

    def _errored(self, key: str, kind: str, message: str) -> None:
        kind, message = cut_message(kind), cut_message(message)
        own = is_of_the_request(kind, message)
        self._failures[key] = Failure(AskFailure.BAD_REQUEST if own else AskFailure.UNREACHABLE, f"{kind}: {message}")
        if is_money(kind, message):
            self.ledger.end(message)
            self.stopped = self.stopped or message

    def _give_up(self, rows: Collection[Batched]) -> None:
        """Count requests as paid whose answers nobody can have: a later run asks again."""
        for row in rows:
            self._failures[row.key] = Failure(AskFailure.EXPIRED, f"batch {row.batch} has no answer to it")
        self.ledger.lose(row.reservation for row in rows)
        self.batches.forget(row.reservation for row in rows)

    def _cost(self, model: str, *, batch: bool) -> Callable[[Tokens], int]:
        return partial(self.rules.cost, model, batch=batch)

    def _worst(self, ask: Ask[Any], *, batch: bool) -> int:
        tokens = Tokens(cache_write=ask.most_input_tokens, output=ask.max_tokens)
        return self.rules.cost(ask.model, tokens, batch=batch)

    def _read(self, ask: Ask[Form]) -> Reply[Form]:
        answer = self.answers.get(ask.key)
        if answer is None:
            waiting = Failure(AskFailure.WAITING, self.stopped or "its batch has not ended")
            return Reply(ask, None, self._failures.get(ask.key, waiting), None)
        parsed = form_of(answer, ask.form)
        return Reply(ask, None, parsed, answer) if isinstance(parsed, Failure) else Reply(ask, parsed, None, answer)

    def _stop(self, error: Exception) -> None:
        self.stopped = self.stopped or error_message(error)


def model_drafter(store: Path, rules: ModelRules, run: str) -> ModelDrafter:
    """Return the drafter whose memory and ledger are in a file; what it spends counts for a run."""
    database, client = Store(store), Client(rules)
    return ModelDrafter(client, Answers(database), Ledger(database, rules.limits, run), Batches(database, client))
