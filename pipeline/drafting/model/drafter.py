"""The model as a drafter: what it is asked, from memory where it was asked before, within the budget."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic

import anthropic
from anthropic.types import Message
from anthropic.types.messages import MessageBatchIndividualResponse
from pydantic import ValidationError

from pipeline.drafting.model.answers import Answer, Answers, answer_of
from pipeline.drafting.model.ask import Ask, AskFailure, Failure, Form
from pipeline.drafting.model.batches import Batched, Batches
from pipeline.drafting.model.client import (
    Client,
    Foreign,
    SpendLimit,
    is_money,
    is_of_the_request,
    may_be_charged,
    may_have_arrived,
    may_pass,
)
from pipeline.drafting.model.ledger import BudgetReached, Ledger
from pipeline.drafting.model.rules import ModelRules, Tokens
from pipeline.drafting.model.store import Store
from pipeline.drafting.model.tally import Tally, added
from pipeline.terms import DraftKind

_COMPLETE = "end_turn"
# A wrong key, address or name of a model says nothing of the request: it may be right in the next run.
_NO_ACCESS = (
    anthropic.AuthenticationError,
    anthropic.PermissionDeniedError,
    anthropic.NotFoundError,
    anthropic.OrganizationOnHoldError,
    Foreign,
)
# So many requests in a row that nobody answers, each tried as often as the rules say: the next would wait for nothing.
_SILENT = 2
_REASONS = {"refusal": AskFailure.REFUSED, "max_tokens": AskFailure.CUT_OFF}


@dataclass(frozen=True, slots=True)
class Asked(Generic[Form]):
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

    @property
    def rules(self) -> ModelRules:
        """The rules of money and patience."""
        return self.client.rules

    @property
    def tally(self) -> Tally:
        """The tally of this process over all kinds of drafts."""
        return added(self.told().values())

    def told(self) -> dict[DraftKind, Tally]:
        """Return the tallies of this process; the reason why asking ended early is told of each kind."""
        return {kind: replace(tally, stopped=self.stopped) for kind, tally in self.tallies.items()}

    def count(self, kind: DraftKind, tally: Tally) -> None:
        """Add to the tally of a kind."""
        self.tallies[kind] = self.tallies.get(kind, Tally()) + tally

    @contextmanager
    def counting(self, kind: DraftKind) -> Iterator[None]:
        """Count the requests that are made inside for a kind."""
        requests, retries = self.requests, self.client.retries
        try:
            yield
        finally:
            self.count(kind, Tally(requests=self.requests - requests, retries=self.client.retries - retries))

    def ask(self, asks: Sequence[Ask[Form]]) -> list[Asked[Form]]:
        """Ask for what was never asked, and return what came of each request, in their order.

        Requests that are alike are asked once. Where the budget, the provider's spending limit or the patience with a
        batch ends, the rest is WAITING; a later run goes on from there. Where everything was asked before, nobody is.
        """
        self._failures = {}
        missing = self._missing({ask.key: ask for ask in asks})
        if missing and (ended := self.ledger.ended()):
            self.stopped = ended
        elif missing:
            try:
                self._collect(wait=False)
                self._send(self._missing(missing))
            except SpendLimit as error:
                self.ledger.end(str(error))
                self._stop(error)
            except anthropic.AnthropicError as error:
                self._stop(error)
        with self.answers.store.open():
            return [self._read(ask) for ask in asks]

    def _missing(self, asks: dict[str, Ask[Any]]) -> dict[str, Ask[Any]]:
        with self.answers.store.open():
            return {key: ask for key, ask in asks.items() if self.answers.get(key) is None}

    def _send(self, asks: dict[str, Ask[Any]]) -> None:
        under_way = {row.key for row in self.batches.under_way()}
        fresh = {key: ask for key, ask in asks.items() if key not in under_way}
        if len(fresh) >= self.rules.batch_from:
            self._send_batches(fresh)
        else:
            self._send_one_by_one(fresh)
        if self.batches.under_way():
            self._collect(wait=True)

    def _send_one_by_one(self, asks: dict[str, Ask[Any]]) -> None:
        silent = 0
        for key in sorted(asks):
            self._ask_one(asks[key])
            failure = self._failures.get(key)
            silent = silent + 1 if failure and failure.kind is AskFailure.UNREACHABLE else 0
            if failure and silent == _SILENT:
                self.stopped = self.stopped or failure.detail
                return

    def _ask_one(self, ask: Ask[Any]) -> None:
        """Ask one request, with its worst case reserved for each time that it may be answered and charged.

        Errors: those that say nothing of the request itself, and end asking.
        """
        worst = self._worst(ask, batch=False)
        reserved: list[str] = []

        def again(error: BaseException) -> None:
            if may_be_charged(error):
                self.ledger.lose(reserved)
                reserved[:] = [self.ledger.reserve(worst)]

        try:
            reserved.append(self.ledger.reserve(worst))
            self.requests += 1
            answer = self._answer(ask.model, self.client.message(ask.params, again), batch=False)
        except BudgetReached as error:
            self._stop(error)
        except (SpendLimit, anthropic.AnthropicError) as error:
            if may_be_charged(error):
                self.ledger.lose(reserved)
            else:
                self._settle(reserved)
            if isinstance(error, (SpendLimit, *_NO_ACCESS)):
                raise
            kind = AskFailure.UNREACHABLE if _is_of_the_moment(error) else AskFailure.BAD_REQUEST
            self._failures[ask.key] = Failure(kind, _said(error))
        else:
            with self.ledger.store.open():
                self.answers.keep(ask.key, answer)
                self.ledger.settle(reserved[0], answer.nano_usd)

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
        """Set money aside for requests, as long as there is some; return the reservations by key."""
        reservations: dict[str, str] = {}
        for key, ask in asks.items():
            try:
                reservations[key] = self.ledger.reserve(self._worst(ask, batch=True))
            except BudgetReached as error:
                self._stop(error)
                break
        return reservations

    def _settle(self, reservations: Iterable[str]) -> None:
        for reservation in reservations:
            self.ledger.settle(reservation, 0)

    def _collect(self, *, wait: bool) -> None:
        """Take in the results of batches that have ended, those of earlier runs too."""
        self._settle(row.reservation for row in self.batches.adopt())
        under_way = self.batches.under_way()
        names = sorted({row.batch for row in under_way if row.batch is not None})
        if wait:
            self.batches.wait(names)
        for name in names:
            if not self.batches.ended(name):
                continue
            sent = {row.key: row for row in under_way if row.batch == name}
            results = self.batches.results(name)
            with self.ledger.store.open():
                if results is None:
                    self.ledger.lose(row.reservation for row in sent.values())
                    self.batches.forget(sent)
                else:
                    self._take_in(name, results, sent)

    def _take_in(
        self, batch: str, results: Iterable[MessageBatchIndividualResponse], sent: Mapping[str, Batched]
    ) -> None:
        done = []
        for one in results:
            if (row := sent.get(one.custom_id)) is None:
                continue
            used = 0
            match one.result.type:
                case "succeeded":
                    answer = self._answer(row.model, one.result.message, batch=True)
                    self.answers.keep(one.custom_id, answer)
                    used = answer.nano_usd
                case "errored":
                    error = one.result.error.error
                    own = is_of_the_request(error.type, error.message)
                    kind = AskFailure.BAD_REQUEST if own else AskFailure.UNREACHABLE
                    self._failures[one.custom_id] = Failure(kind, f"{error.type}: {error.message}")
                    if is_money(error.type, error.message):
                        self.ledger.end(error.message)
                        self.stopped = self.stopped or error.message
                case _:
                    self._failures[one.custom_id] = Failure(AskFailure.EXPIRED, f"batch {batch}: {one.result.type}")
            self.ledger.settle(row.reservation, used)
            done.append(one.custom_id)
        self.batches.forget(done)

    def _answer(self, asked: str, message: Message, *, batch: bool) -> Answer:
        return answer_of(message, asked, self.rules, batch=batch)

    def _worst(self, ask: Ask[Any], *, batch: bool) -> int:
        tokens = Tokens(cache_write=ask.most_input_tokens, output=ask.max_tokens)
        return self.rules.cost(ask.model, tokens, batch=batch)

    def _read(self, ask: Ask[Form]) -> Asked[Form]:
        """Read an answer: why it ended comes first, for what was cut off or refused may look like the form."""
        answer = self.answers.get(ask.key)
        if answer is None:
            waiting = Failure(AskFailure.WAITING, self.stopped or "its batch has not ended")
            return Asked(ask, None, self._failures.get(ask.key, waiting), None)
        if answer.stop_reason != _COMPLETE:
            kind = _REASONS.get(answer.stop_reason, AskFailure.CUT_OFF)
            return Asked(ask, None, Failure(kind, f"stop_reason {answer.stop_reason}"), answer)
        try:
            return Asked(ask, ask.form.model_validate_json(answer.text, strict=True), None, answer)
        except ValidationError as error:
            return Asked(ask, None, Failure(AskFailure.NOT_THE_FORM, _problems(error)), answer)

    def _stop(self, error: Exception) -> None:
        self.stopped = self.stopped or _said(error)


def model_drafter(store: Path, rules: ModelRules, run: str) -> ModelDrafter:
    """Return the drafter whose memory and ledger are in a file; what it spends counts for a run."""
    kept, client = Store(store), Client(rules)
    return ModelDrafter(client, Answers(kept), Ledger(kept, rules, run), Batches(kept, client))


def _is_of_the_moment(error: Exception) -> bool:
    return not isinstance(error, anthropic.APIStatusError) or may_pass(error)


def _said(error: Exception) -> str:
    return str(getattr(error, "api_message", None) or getattr(error, "message", None) or error)


def _problems(error: ValidationError) -> str:
    return "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
