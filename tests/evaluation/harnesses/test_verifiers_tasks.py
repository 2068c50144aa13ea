"""The reward of the environment for verifiers, with stand-ins for what it subclasses; `test_adapters` has the real one."""

from __future__ import annotations

import asyncio
import importlib
import sys
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from pipeline.core.vocabularies.evaluation import View
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.scores import Metric
from tests.errors import raises

MODULE = "pipeline.evaluation.harnesses.verifiers_tasks"
CLASSES = ("TaskData", "Task", "Taskset", "Harness", "State", "TaskConfig", "HarnessConfig", "Env", "SingleAgentEnv")


class Base:
    """What every class of verifiers is here: it takes any parameters, and holds what it was given."""

    def __class_getitem__(cls, parameters: object) -> type[Base]:
        return cls

    def __init__(self, *values: Any, **fields: Any) -> None:
        self.data = values[0] if values else None
        vars(self).update(fields)


@pytest.fixture
def tasks(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The adapter, imported over stand-ins."""
    v1, package, openai = ModuleType("verifiers.v1"), ModuleType("verifiers"), ModuleType("openai")
    vars(v1).update({name: type(name, (Base,), {}) for name in CLASSES})
    vars(v1).update({name: type(name, (Base,), {}) for name in ("TasksetConfig", "SingleAgentEnvConfig")})
    vars(v1).update(
        {
            "AgentConfig": Base,
            "SubprocessConfig": Base,
            "ProgramResult": Base,
            "reward": lambda method: method,
        }
    )
    vars(v1).update(dict.fromkeys(("Trace", "ModelContext", "Runtime"), Base))
    vars(package)["v1"] = v1
    vars(openai).update({"AsyncOpenAI": Base, "OpenAIError": RuntimeError})
    for name, module in (("verifiers", package), ("verifiers.v1", v1), ("openai", openai)):
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.delitem(sys.modules, MODULE, raising=False)
    yield importlib.import_module(MODULE)
    sys.modules.pop(MODULE, None)


class Verdicts:
    """A judge for which an answer is right where it is the reference, indentation included."""

    main, metrics = Metric.PASS, frozenset({Metric.PASS})
    folder = SimpleNamespace(name="snapshot")

    @property
    def questions(self) -> dict[str, Any]:
        metrics = {"able": {Metric.PASS}, "unable": set[Metric]()}
        shared = {"system": None, "canary": "canary"}
        return {of: SimpleNamespace(id=of, prompt=f"prompt of {of}", metrics=metrics[of], **shared) for of in metrics}

    def verdict(self, of: str, answer: str) -> Any:
        scores = {} if answer == "unjudged" else {Metric.PASS: float(answer == "    return 1\n"), Metric.EM: 0.5}
        return SimpleNamespace(scores=scores, missing="no environment")


def reward(tasks: Any, *answers: str | None) -> tuple[float, dict[str, float]]:
    recorded: dict[str, float] = {}
    messages = [SimpleNamespace(content=answer) for answer in answers]
    trace = SimpleNamespace(assistant_messages=messages, record_metrics=recorded.update)
    config = SimpleNamespace(family=Family.PROBLEM, snapshot="mine", view=View.ALL, cutoff=None, setting=None)
    taskset = tasks.DriftlineTaskset()
    taskset.config = SimpleNamespace(**vars(config), task=None)
    [task] = taskset.load()
    assert (task.key, task.data.prompt, task.data.canary) == ("able", "prompt of able", "canary")
    assert not hasattr(task.data, "reference")
    return asyncio.run(task.verdict(trace)), recorded


@pytest.fixture(autouse=True)
def judged(tasks: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "_judge", lambda *of: Verdicts())


def test_the_reward_is_the_verdict_on_the_last_message_as_it_is(tasks: Any) -> None:
    assert reward(tasks, "return 2", "    return 1\n") == (1.0, {"pass": 1.0, "em": 0.5})
    assert reward(tasks, "return 1\n") == (0.0, {"pass": 0.0, "em": 0.5})
    assert reward(tasks, None)[0] == 0.0


def test_no_answer_and_no_verdict_are_errors_and_no_reward(tasks: Any) -> None:
    with raises(ValueError, code="harness_answer_missing"):
        reward(tasks)
    with raises(ValueError, code="harness_verdict_missing"):
        reward(tasks, "unjudged")


def test_a_family_without_runs_is_refused(tasks: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Verdicts, "metrics", frozenset())
    with raises(ValueError, code="harness_nothing_runs"):
        reward(tasks, "x")
