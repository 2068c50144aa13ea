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

from pipeline.drafting.model.answers import Answer, Answers
from pipeline.drafting.model.ask import Ask, Failure, Form
from pipeline.drafting.model.batches import Batched, Batches
from pipeline.drafting.model.client import Client, SpendLimit, may_have_arrived
from pipeline.drafting.model.ledger import BudgetReached, Ledger
from pipeline.drafting.model.rules import ModelRules, Tokens
from pipeline.drafting.model.store import Store
from pipeline.drafting.model.tally import Tally, added
from pipeline.terms import AskFailure, DraftKind

_COMPLETE = "end_turn"
_MAY_PASS = frozenset({"api_error", "overloaded_error", "rate_limit_error", "timeout_error"})
# A wrong key says nothing of the request: it may be right in the next run.
_NO_ACCESS = (anthropic.AuthenticationError, anthropic.PermissionDeniedError)
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
        if len(fresh) < self.rules.batch_from:
            for key in sorted(fresh):
                self._ask_one(fresh[key])
        else:
            self._send_batches(fresh)
        if self.batches.under_way():
            self._collect(wait=True)

    def _ask_one(self, ask: Ask[Any]) -> None:
        try:
            reservation = self.ledger.reserve(self._worst(ask, batch=False))
        except BudgetReached as error:
            self._stop(error)
            return
        used = 0
        try:
            self.requests += 1
            answer = self._answer(ask.model, self.client.message(ask.params), batch=False)
            self.answers.keep(ask.key, answer)
            used = answer.nano_usd
        except _NO_ACCESS:
            raise
        except anthropic.APIStatusError as error:
            self._failures[ask.key] = Failure(_failed(error), str(error.api_message or error.message))
        except anthropic.APIConnectionError as error:
            self._failures[ask.key] = Failure(AskFailure.UNREACHABLE, error.message)
        finally:
            self.ledger.settle(reservation, used)

    def _send_batches(self, asks: dict[str, Ask[Any]]) -> None:
        for keys in self.batches.parts(asks):
            reservations = self._reserved({key: asks[key] for key in keys})
            if not reservations:
                return
            self.requests += len(reservations)
            try:
                self.batches.send({key: asks[key] for key in reservations}, reservations)
            except Exception as error:
                if not may_have_arrived(error):
                    self._settle(reservations.values())
                raise

    def _reserved(self, asks: Mapping[str, Ask[Any]]) -> dict[str, str]:
        """Set money aside for requests, as long as there is some; return the reservations by key."""
        reservations: dict[str, str] = {}
        with self.ledger.store.open():
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
            if self.batches.ended(name):
                results = list(self.batches.results(name))
                with self.ledger.store.open():
                    self._take_in(name, results, {row.key: row for row in under_way if row.batch == name})

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
                    kind = AskFailure.UNREACHABLE if error.type in _MAY_PASS else AskFailure.BAD_REQUEST
                    self._failures[one.custom_id] = Failure(kind, f"{error.type}: {error.message}")
                case _:
                    self._failures[one.custom_id] = Failure(AskFailure.EXPIRED, f"batch {batch}: {one.result.type}")
            self.ledger.settle(row.reservation, used)
            done.append(one.custom_id)
        self.batches.forget(done)

    def _answer(self, asked: str, message: Message, *, batch: bool) -> Answer:
        usage = message.usage
        tokens = Tokens(
            input=usage.input_tokens,
            output=usage.output_tokens,
            cache_write=usage.cache_creation_input_tokens or 0,
            cache_read=usage.cache_read_input_tokens or 0,
        )
        return Answer(
            text="".join(block.text for block in message.content if block.type == "text"),
            stop_reason=str(message.stop_reason),
            model=message.model,
            input_tokens=tokens.input,
            output_tokens=tokens.output,
            cache_write_tokens=tokens.cache_write,
            cache_read_tokens=tokens.cache_read,
            nano_usd=self.rules.cost(asked, tokens, batch=batch),
        )

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
        said = error.api_message if isinstance(error, anthropic.APIStatusError) else None
        self.stopped = self.stopped or said or str(error)


def model_drafter(store: Path, rules: ModelRules, run: str) -> ModelDrafter:
    """Return the drafter whose memory and ledger are in a file; what it spends counts for a run."""
    kept, client = Store(store), Client(rules)
    return ModelDrafter(client, Answers(kept), Ledger(kept, rules, run), Batches(kept, client))


def _failed(error: anthropic.APIStatusError) -> AskFailure:
    return (
        AskFailure.UNREACHABLE
        if error.status_code in {408, 409, 429} or error.status_code >= 500
        else (AskFailure.BAD_REQUEST)
    )


def _problems(error: ValidationError) -> str:
    return "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())


def accepted(asked: Iterable[Asked[Form]]) -> list[Form]:
    """Return the answers that came in their form."""
    return [one.form for one in asked if one.form is not None]
