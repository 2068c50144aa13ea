"""Rounds of drafting: what a model writes is judged, and goes back with the reason until it is accepted or given up."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from pipeline.llm.client.answers import Answer
from pipeline.llm.client.ask import Ask, AskFailure
from pipeline.llm.client.drafter import ModelDrafter, Reply
from pipeline.llm.client.fence import fenced
from pipeline.llm.client.tally import Tally
from pipeline.llm.tasks.rules import KindRules
from pipeline.llm.writers import Refusal

Form = TypeVar("Form", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Subject:
    """What a draft is for: its id, and the crawled text that the model sees, by field."""

    id: str
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Drafted(Generic[Form]):
    """What came of a subject: the accepted draft, or why none was accepted; `waiting` if a later run will ask again.

    `prompt_sha256` and `tries` are those of the last request, tokens and nano-dollars those of all tries.
    """

    subject: Subject
    form: Form | None
    problem: str | None
    waiting: bool
    model: str
    prompt_sha256: str
    tries: int
    tokens: int
    nano_usd: int

    @property
    def refusal(self) -> Refusal | None:
        """Why there is no draft, for rows of tables; None where there is one."""
        if self.problem is None:
            return None
        spent = (self.tokens, self.nano_usd)
        return Refusal(self.problem, self.waiting, self.model, self.prompt_sha256, self.tries, *spent)


Judge = Callable[[Sequence[tuple[Subject, Form]]], Sequence[str | None]]
"""Says of each draft what is wrong with it, in words that the model can use; None of a good one."""


def draft(
    subjects: Sequence[Subject], form: type[Form], rules: KindRules, drafter: ModelDrafter, judge: Judge[Form]
) -> list[Drafted[Form]]:
    """Have a model write a draft for each subject, and return what came of each, in their order.

    A draft that is not accepted goes back with the reason (the field `refused` of the data), at most `tries` times in
    all; so does an answer that is not in the form. A refusal, or a request that the provider does not take, is final.
    """
    paid: dict[str, Answer] = {}
    with drafter.counting(rules.kind):
        drafted = _rounds(subjects, form, rules, drafter, judge, paid)
    drafter.count(rules.kind, replace(_counted(drafted), answers_nano_usd=drafter.first_cost(rules.kind, paid)))
    return drafted


def _rounds(
    subjects: Sequence[Subject],
    form: type[Form],
    rules: KindRules,
    drafter: ModelDrafter,
    judge: Judge[Form],
    paid: dict[str, Answer],
) -> list[Drafted[Form]]:
    """Draft, and put every answer that came into `paid`, by key."""
    results: dict[int, Drafted[Form]] = {}
    answers: dict[int, list[Answer]] = {place: [] for place in range(len(subjects))}
    open_ = {place: _ask(subject, form, rules, {}) for place, subject in enumerate(subjects)}
    for attempt in range(1, rules.tries + 1):
        replies = dict(zip(open_, drafter.ask(list(open_.values())), strict=True))
        good = {place: reply.form for place, reply in replies.items() if reply.form is not None}
        judged = judge([(subjects[place], written) for place, written in good.items()]) if good else []
        problems = dict(zip(good, judged, strict=True))
        open_ = {}
        for place, reply in replies.items():
            problem = problems[place] if place in good else _failure(reply)
            if reply.answer is not None:
                answers[place].append(reply.answer)
                paid[reply.ask.key] = reply.answer
            results[place] = _drafted(subjects[place], reply, problem, attempt, answers[place])
            if problem is not None and reply.answer is not None and not _is_final(reply):
                refused = {"refused": {"answer": reply.answer.text, "reason": problem}}
                again = _ask(subjects[place], form, rules, refused)
                # The same answer for the same reason as before: asking on would bring it once more.
                if again.key != reply.ask.key:
                    open_[place] = again
    return [results[place] for place in range(len(subjects))]


def _ask(subject: Subject, form: type[Form], rules: KindRules, refused: Mapping[str, Any]) -> Ask[Form]:
    data = fenced({**subject.data, **refused})
    return Ask(subject.id, rules.model, rules.instructions, data, form, rules.form, rules.max_tokens)


def _drafted(
    subject: Subject, reply: Reply[Form], problem: str | None, attempt: int, answers: Sequence[Answer]
) -> Drafted[Form]:
    return Drafted(
        subject=subject,
        form=reply.form if problem is None else None,
        problem=problem,
        waiting=reply.failure is not None and reply.failure.kind in _LATER,
        model=reply.ask.model,
        prompt_sha256=reply.ask.prompt_sha256,
        tries=attempt,
        tokens=sum(answer.tokens for answer in answers),
        nano_usd=sum(answer.nano_usd for answer in answers),
    )


def _counted(drafted: Sequence[Drafted[Form]]) -> Tally:
    return Tally(
        accepted=sum(result.form is not None for result in drafted),
        refused=sum(result.form is None and not result.waiting for result in drafted),
        waiting=sum(result.waiting for result in drafted),
    )


_LATER = frozenset({AskFailure.WAITING, AskFailure.UNREACHABLE, AskFailure.EXPIRED})


def _failure(reply: Reply[Form]) -> str:
    return f"{reply.failure.kind}: {reply.failure.detail}" if reply.failure else "no answer"


def _is_final(reply: Reply[Form]) -> bool:
    return reply.failure is not None and reply.failure.kind is AskFailure.REFUSED
