"""One evaluation: the prompts of a setting and view, the answers of a model, and the predictions that they make."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.core.credentials import cut
from pipeline.core.progress import ReportProgress
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.prompts import NoPrompt
from pipeline.evaluation.asking.ask import Collected, ask_all, costs
from pipeline.evaluation.prompts.make import Prompt, prompts
from pipeline.evaluation.prompts.rules import PromptRules
from pipeline.evaluation.scores.result import Measured
from pipeline.evaluation.views import TaskView
from pipeline.lake.ids import sha256_json
from pipeline.lake.tables import replacing
from pipeline.llm.client.answers import Answer
from pipeline.llm.client.ask import AskFailure, Failure
from pipeline.llm.client.chat import Chat, ChatClient, Endpoint
from pipeline.llm.client.rules import NANO
from pipeline.snapshots.format.reader import Snapshot

PREDICTIONS, ANSWERS = "predictions.jsonl", "answers.jsonl"
# Servers of open models may leave the reasoning in the text; one that was cut off has no end.
_REASONING = re.compile(r"\A\s*<think>.*?(?:</think>|\Z)", re.DOTALL)
_ENDS = {"refusal": AskFailure.REFUSED, "max_tokens": AskFailure.CUT_OFF}


@dataclass(frozen=True)
class Questions:
    """The prompts of a setting for a view, in the order of their ids, and the rows without one by reason."""

    setting: str
    prompts: Sequence[Prompt]
    without: Mapping[NoPrompt, int]

    @property
    def sha256(self) -> str:
        """The hash of all prompts with their ids."""
        return sha256_json([[prompt.id, prompt.system, prompt.prompt] for prompt in self.prompts])

    @property
    def hashes(self) -> Mapping[tuple[Family, str], str]:
        """The hash of each prompt by task."""
        return {(prompt.family, prompt.id): sha256_json([prompt.system, prompt.prompt]) for prompt in self.prompts}


def questions(
    snapshot: Path, setting: str, rules: PromptRules, view: TaskView, *, ignore_case: bool, tasks: int | None = None
) -> Questions:
    """Return the prompts of a view, or the first `tasks` of them: ids are hashes, so these are a random choice.

    Errors: those of `prompts`.
    """
    rendered: list[Prompt] = []
    without: Counter[NoPrompt] = Counter()
    for result in prompts(Snapshot(snapshot), setting, rules, ignore_case=ignore_case, view=view):
        if isinstance(result, Prompt):
            rendered.append(result)
        else:
            without[result.reason] += 1
    rendered.sort(key=lambda prompt: prompt.id)
    return Questions(setting, rendered[:tasks], without)


@dataclass(frozen=True)
class Evaluation:
    """What came of asking: requests of each prompt, their answers and failures, and why asking ended early."""

    questions: Questions
    chats: Sequence[Sequence[Chat]]
    collected: Collected

    def result(self, chat: Chat) -> Answer | Failure:
        """Return the answer to a request, or why it has none."""
        waiting = Failure(AskFailure.WAITING, "not asked yet")
        return self.collected.answers.get(chat.key) or self.collected.failures.get(chat.key, waiting)


def evaluate(
    of: Questions, endpoint: Endpoint, samples: int, client: ChatClient, concurrency: int, report: ReportProgress
) -> Evaluation:
    """Ask for so many samples of the answer to each prompt; errors of the endpoint are in the result."""
    chats = [
        [Chat(endpoint, prompt.system, prompt.prompt, sample) for sample in range(samples)] for prompt in of.prompts
    ]
    return Evaluation(of, chats, ask_all([chat for each in chats for chat in each], client, concurrency, report))


def measured(evaluation: Evaluation, endpoint: Endpoint, samples: int, client: ChatClient) -> Measured:
    """Return what was asked, what came, and what that cost, whenever it was paid."""
    answers = [
        answer for each in evaluation.chats for chat in each if isinstance(answer := evaluation.result(chat), Answer)
    ]
    ends = Counter(_ENDS.get(answer.stop_reason) for answer in answers)
    counted = bool(client.price) and any(answer.tokens for answer in answers)
    return Measured(
        model=endpoint.model,
        protocol=endpoint.protocol,
        endpoint=cut(endpoint.url),
        parameters=dict(endpoint.parameters),
        setting=evaluation.questions.setting,
        tasks=len(evaluation.questions.prompts),
        samples=samples,
        prompts_sha256=evaluation.questions.sha256,
        answered=len(answers),
        refused=ends[AskFailure.REFUSED],
        cut_off=ends[AskFailure.CUT_OFF],
        empty=sum(not text_of(answer).strip() for answer in answers),
        missing=sum(len(each) for each in evaluation.chats) - len(answers),
        input_tokens=sum(answer.tokens - answer.output_tokens for answer in answers),
        output_tokens=sum(answer.output_tokens for answer in answers),
        cost_usd=f"{costs(answers, client) / NANO:.6f}" if counted else None,
    )


def text_of(answer: Answer) -> str:
    """Return what is scored of an answer: all but its reasoning."""
    return without_reasoning(answer.text)


def without_reasoning(text: str) -> str:
    """Return a text without the reasoning between `<think>` marks at its begin."""
    return _REASONING.sub("", text, count=1)


def write_answers(evaluation: Evaluation, folder: Path) -> Path:
    """Write every answer as it came, and the predictions made of them; return the file of the latter.

    Errors: OSError.
    """
    with replacing(folder / ANSWERS) as temporary, temporary.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in _answers(evaluation))
    path = folder / PREDICTIONS
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        for prompt, chats in zip(evaluation.questions.prompts, evaluation.chats, strict=True):
            results = map(evaluation.result, chats)
            texts = [text_of(result) for result in results if isinstance(result, Answer)]
            if texts:
                line = {"id": prompt.id, "family": prompt.family, "completions": texts}
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
    return path


def _answers(evaluation: Evaluation) -> Iterator[dict[str, object]]:
    for prompt, chats in zip(evaluation.questions.prompts, evaluation.chats, strict=True):
        for chat in chats:
            head = {"id": prompt.id, "family": prompt.family, "sample": chat.sample}
            match evaluation.result(chat):
                case Failure(kind=kind, detail=detail):
                    yield head | {"problem": kind, "detail": detail}
                case Answer() as answer:
                    yield head | {
                        "text": answer.text,
                        "stop_reason": answer.stop_reason,
                        "model": answer.model,
                        "input_tokens": answer.tokens - answer.output_tokens,
                        "output_tokens": answer.output_tokens,
                    }
