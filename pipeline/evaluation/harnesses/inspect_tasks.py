"""Tasks of Inspect (UK AI Security Institute), one for each family: their models; our prompts, scores and sandbox."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from datetime import date
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageSystem, ChatMessageUser
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState, generate

from pipeline.core.vocabularies.evaluation import View
from pipeline.core.vocabularies.families import Family
from pipeline.evaluation.harnesses.judge import Judge, Question
from pipeline.evaluation.views import task_view

_Make = Callable[..., Task]


def tasks_of(module: str) -> dict[str, _Make]:
    """Return a task for each family by the name of its table, as tasks of a module."""
    return {family.table: _declared(family, module) for family in Family}


def _declared(family: Family, module: str) -> _Make:
    def make(
        snapshot: str = "starter",
        view: str = View.DISCRIMINATING,
        setting: str | None = None,
        cutoff: str | date | None = None,
    ) -> Task:
        # Inspect reads arguments as YAML, where a date is no text.
        chosen = task_view(View(view), None if cutoff is None else str(cutoff))
        judge = Judge(snapshot, family, chosen, setting)
        return Task(
            dataset=MemoryDataset([_sample(each) for each in judge.questions.values()], family.table),
            solver=generate(),
            scorer=scorer(metrics={metric.value: [mean(), stderr()] for metric in judge.metrics}, name="driftline")(
                _scoring
            )(judge),
            metadata={"snapshot": judge.folder.name, "setting": judge.setting, "view": str(chosen)},
        )

    make.__module__, make.__doc__ = module, f"Make the task of {family.table}: {family.meaning}."
    declared: _Make = task(name=family.table)(make)
    return declared


def _sample(question: Question) -> Sample:
    system = [ChatMessageSystem(content=question.system)] if question.system is not None else []
    return Sample(
        input=[*system, ChatMessageUser(content=question.prompt)],
        target=question.reference,
        id=question.id,
        metadata={"canary": question.canary},
    )


def _scoring(judge: Judge) -> Scorer:
    async def score(state: TaskState, target: Target) -> Score:
        answer = state.output.completion
        verdict = await asyncio.to_thread(judge.verdict, str(state.sample_id), answer)
        # Inspect counts what is not a number as unscored.
        values: dict[str, Any] = {metric.value: verdict.scores.get(metric, math.nan) for metric in judge.metrics}
        return Score(value=values, answer=answer, explanation=verdict.missing or None)

    return score
