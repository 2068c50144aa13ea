"""Message batches: half the price, within a day; one that was interrupted is found again and never sent twice."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeGuard

import anthropic
from anthropic.types.messages import MessageBatch, MessageBatchIndividualResponse, MessageBatchRequestCounts
from anthropic.types.messages.batch_create_params import Request

from pipeline.llm.client.ask import Ask
from pipeline.llm.client.client import FOREIGN, Client, Foreign, may_have_arrived
from pipeline.llm.client.store import Store

_ENDED = "ended"
_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Batched:
    """A request that went out in a batch: its key, who is asked, the batch (None where we were stopped before it had
    an id), and the reservation that waits for what it used."""

    key: str
    model: str
    batch: str | None
    reservation: str


@dataclass(frozen=True)
class Batches:
    """The batches of a store; `sleep` takes seconds."""

    store: Store
    client: Client
    sleep: Callable[[float], None] = time.sleep

    def under_way(self) -> list[Batched]:
        """Return the requests whose results nobody has collected."""
        with self.store.open() as database:
            rows = database.execute("SELECT key, model, batch, reservation FROM batched ORDER BY key").fetchall()
        return [Batched(*row) for row in rows]

    def send(self, asks: Mapping[str, Ask[Any]], reserve: Callable[[Sequence[str]], Mapping[str, str]]) -> int:
        """Send requests, by key, as one batch, as far as `reserve` sets money aside for their keys; return how many.

        What goes out is written down before, together with its money, so that whoever is stopped in between asks the
        provider which batch it became. What somebody else has just sent is left out. Errors: those of `Client.call`;
        what certainly did not arrive is forgotten, and its money is for the caller to give back.
        """
        with self.store.sending():
            with self.store.open() as database:
                under_way = {row.key for row in self.under_way()}
                reservations = reserve([key for key in asks if key not in under_way])
                database.executemany(
                    "INSERT INTO batched VALUES (?, ?, NULL, ?)",
                    [(key, asks[key].model, reservation) for key, reservation in reservations.items()],
                )
            if not reservations:
                return 0
            requests = [Request(custom_id=key, params=asks[key].params) for key in reservations]
            try:
                create = partial(self.client.sdk.messages.batches.create, requests=requests)
                batch = self.client.call(create, once=True)
            except Exception as error:
                if not may_have_arrived(error):
                    self.forget(reservations.values())
                raise
            if _is_batch(batch):
                self._name(reservations.values(), batch.id)
        return len(reservations)

    def adopt(self) -> list[Batched]:
        """Find the batches of requests that went out without our knowing what they became; return those that never did.

        A batch that holds none of them, or more than them, is somebody else's; one that has not ended is waited for,
        as its requests cannot be seen before. What no batch holds never arrived, and is forgotten.
        """
        with self.store.sending():
            rows = self.under_way()
        lost = {row.key: row for row in rows if row.batch is None}
        adopted = {row.batch for row in rows}
        unseen = False
        for batch in self.client.call(lambda: list(self.client.sdk.messages.batches.list(limit=100))) if lost else ():
            if not lost:
                break
            if not _is_batch(batch) or batch.id in adopted or _size(batch) > len(lost):
                continue
            if not self.wait([batch.id]):
                unseen = True
                continue
            held = [result.custom_id for result in self.results(batch.id) or () if result.custom_id in lost]
            self._name((lost[key].reservation for key in held), batch.id)
            lost = {key: row for key, row in lost.items() if key not in held}
        if unseen:
            return []
        self.forget(row.reservation for row in lost.values())
        return list(lost.values())

    def wait(self, batches: Sequence[str]) -> bool:
        """Wait until batches have ended, as long as the rules say; return whether all have."""
        pending, waited = list(batches), 0.0
        while True:
            pending = [batch for batch in pending if not self.ended(batch)]
            if not pending or waited >= self.client.rules.wait_s:
                return not pending
            self.sleep(self.client.rules.poll_s)
            waited += max(self.client.rules.poll_s, 0.001)

    def ended(self, batch: str) -> bool:
        """Return whether a batch has ended, so that its results can be read, if there are any."""
        batch_state = self._retrieve(batch)
        return batch_state is None or batch_state.processing_status == _ENDED

    def results(self, batch: str) -> list[MessageBatchIndividualResponse] | None:
        """Return the results of a batch that has ended, in no order.

        None where nobody can have them any more: after 29 days, or where the key of today does not know the batch.
        """
        batch_state = self._retrieve(batch)
        if batch_state is None or batch_state.archived_at is not None or batch_state.results_url is None:
            return None
        # All at once: what breaks off in between is read again from its beginning.
        results = self.client.call(lambda: list(self.client.sdk.messages.batches.results(batch)))
        return [result for result in results if isinstance(result, MessageBatchIndividualResponse)]

    def forget(self, reservations: Iterable[str]) -> None:
        """Take requests off the list of what is under way: their results are in the answers, or will never come.

        They are told by their reservations: another process may have sent the same request again in between.
        """
        with self.store.open() as database:
            database.executemany("DELETE FROM batched WHERE reservation = ?", [(key,) for key in reservations])

    def _name(self, reservations: Iterable[str], batch: str) -> None:
        with self.store.open() as database:
            rows = [(batch, reservation) for reservation in reservations]
            database.executemany("UPDATE batched SET batch = ? WHERE reservation = ?", rows)

    def _retrieve(self, batch: str) -> MessageBatch | None:
        try:
            retrieved = self.client.call(lambda: self.client.sdk.messages.batches.retrieve(batch))
        except anthropic.NotFoundError:
            return None
        if not _is_batch(retrieved):
            raise Foreign(FOREIGN)
        return retrieved

    def parts(self, asks: Mapping[str, Ask[Any]]) -> Iterator[list[str]]:
        """Yield the keys of requests for as few batches as the limits allow."""
        rules = self.client.rules
        part: list[str] = []
        size = 0
        for key in sorted(asks):
            bytes_ = asks[key].most_input_tokens
            if part and (len(part) >= rules.batch_requests or size + bytes_ > rules.batch_mb * _MIB):
                yield part
                part, size = [], 0
            part.append(key)
            size += bytes_
        if part:
            yield part


def _is_batch(answer: Any) -> TypeGuard[MessageBatch]:
    """Say whether what came is a batch: the SDK takes what a server sends as it comes."""
    is_message_batch = isinstance(answer, MessageBatch) and isinstance(answer.request_counts, MessageBatchRequestCounts)
    return is_message_batch and isinstance(answer.id, str)


def _size(batch: MessageBatch) -> int:
    counts = batch.request_counts
    return counts.processing + counts.succeeded + counts.errored + counts.canceled + counts.expired
