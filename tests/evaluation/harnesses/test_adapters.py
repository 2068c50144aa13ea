"""Evaluations of our tasks by Inspect and by verifiers themselves, in one environment with the requirements of both."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pipeline.core.vocabularies.families import Family
from pipeline.evaluation.harnesses.judge import Judge
from pipeline.evaluation.views import ALL_ROWS
from tests.chat_server import serving_chat
from tests.evaluation.harnesses.environments import installed
from tests.evaluation.harnesses.families import snapshot
from tests.index_server import Index, serve
from tests.model_server import KEY

pytestmark = pytest.mark.slow(minutes=4)

INSPECT = """
import json, os, sys
import driftline
from inspect_ai import eval
from inspect_ai.model import ModelOutput, ModelUsage, get_model

names = sys.argv[1:]
arguments = {"snapshot": os.environ["SNAPSHOT"], "view": "all"}
references = {
    name: {sample.input[-1].text: sample.target for sample in getattr(driftline, name)(**arguments).dataset}
    for name in names
}


def answers(name, right):
    def answer(messages, tools, choice, config):
        output = ModelOutput.from_content("mockllm", references[name][messages[-1].text] if right else "")
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    return get_model("mockllm/model", custom_outputs=answer, memoize=False)


for name in names:
    models = [answers(name, True), answers(name, False)]
    logs = eval(
        f"driftline/{name}", task_args=arguments, model=models, display="none", log_dir=os.environ["LOGS"]
    )
    for log in logs:
        assert log.status == "success", log.error
        scores = {score.name: [score.metrics["mean"].value, score.scored_samples] for score in log.results.scores}
        print(json.dumps({"task": log.eval.task, "samples": log.eval.dataset.samples, "scores": scores}))
"""

VERIFIERS = """
import json, os, sys
from verifiers.v1.cli.eval.main import main

for of in json.loads(sys.argv[1]):
    os.environ |= of["variables"]
    main(of["arguments"])
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("adapters")


@pytest.fixture(scope="module")
def environment(folder: Path) -> Path:
    return installed(folder / "environment", "inspect,verifiers")


@pytest.fixture(scope="module")
def served(folder: Path) -> Iterator[dict[str, str]]:
    """The variables of an evaluation: an index with the one release that is installed, and a snapshot."""
    with serve(Index()) as index:
        file = index.add_wheel("demo", "1.0", {"demo/__init__.py": ""}, "2021-06-01T12:30:00Z")
        assert file is not None
        lock = f"demo==1.0 \\\n    --hash=sha256:{file.sha256}\n"
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("DRIFTLINE_", "PYTHON"))}
        yield kept | {
            "DRIFTLINE_DATA": str(folder / "data"),
            "DRIFTLINE_INDEX_URL": index.simple,
            "HOME": str(folder),
            "LOGS": str(folder / "logs"),
            "OPENAI_API_KEY": KEY,
            "SNAPSHOT": str(snapshot(folder, lock=lock)),
        }


def output(environment: Path, variables: dict[str, str], program: str, *arguments: str) -> str:
    command = [str(environment / "bin" / "python"), "-c", program, *arguments]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_inspect_gives_references_one_and_empty_answers_nothing(environment: Path, served: dict[str, str]) -> None:
    measures = {Family.MIGRATION: "pass", Family.PROBLEM: "pass", Family.CONTEXT: "api_f1"}
    lines = output(environment, served, INSPECT, *(family.table for family in measures)).splitlines()
    logs = [json.loads(line) for line in lines[-2 * len(measures) :]]
    for (family, main), right, empty in zip(measures.items(), logs[::2], logs[1::2], strict=True):
        assert (right["task"], right["samples"]) == (f"driftline/{family.table}", 1)
        assert right["scores"][main] == [1.0, 1]
        assert empty["scores"][main] == [0.0, 1]
        assert {mean for mean, scored in right["scores"].values() if scored} == {1.0}


def test_verifiers_rewards_references_alone_and_no_verdict_is_an_error(
    environment: Path, served: dict[str, str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DRIFTLINE_DATA", "DRIFTLINE_INDEX_URL"):
        monkeypatch.setenv(name, served[name])
    answers, systems = {}, {}
    for family in (Family.CONTEXT, Family.PROBLEM, Family.MIGRATION):
        (question,) = Judge(served["SNAPSHOT"], family, ALL_ROWS).questions.values()
        answers[question.prompt] = [question.reference, ""]
        systems[question.prompt] = question.system
    # Nothing can be installed for the last one, so that no answer of it is run.
    unreachable = {"DRIFTLINE_DATA": str(folder / "other"), "DRIFTLINE_INDEX_URL": "http://127.0.0.1:1/simple/"}
    with serving_chat(lambda prompt: answers[prompt].pop(0)) as chat:
        runs = [
            {
                "variables": unreachable if family is Family.MIGRATION else {},
                "arguments": [
                    "driftline-verifiers",
                    *("--env.taskset.family", family, "--env.taskset.view", "all"),
                    *("--env.taskset.snapshot", served["SNAPSHOT"]),
                    *("--model", "model", "--client.base-url", chat.openai, "--client.api-key-var", "OPENAI_API_KEY"),
                    *("--num-rollouts", "2", "--no-push", "--no-rich"),
                    *("--output-dir", str(folder / "runs"), "--run.name", family),
                ],
            }
            for family in (Family.CONTEXT, Family.PROBLEM, Family.MIGRATION)
        ]
        output(environment, served, VERIFIERS, json.dumps(runs))
    messages = [{message["role"]: message["content"] for message in body["messages"]} for body in chat.asked]
    assert len(messages) == 6
    assert [each.get("system") for each in messages] == [systems[each["user"]] for each in messages]
    for family, main in ((Family.CONTEXT, "api_f1"), (Family.PROBLEM, "pass")):
        rewarded = {trace["rewards"]["verdict"]["score"]: trace for trace in traces(folder / "runs" / family)}
        assert rewarded.keys() == {0.0, 1.0}
        assert all(trace["ok"] and trace["metrics"][main] == score for score, trace in rewarded.items())
        assert set(rewarded[1.0]["metrics"].values()) == {1.0}
    for trace in traces(folder / "runs" / Family.MIGRATION):
        assert not trace["ok"]
        assert "no pass of this answer: " in trace["errors"][-1]["message"]
        assert not trace["rewards"].get("verdict")


def traces(run: Path) -> list[dict[str, Any]]:
    episodes = [json.loads(line) for line in (run / "traces.jsonl").read_text().splitlines()]
    assert len(episodes) == 2
    return [trace for episode in episodes for trace in episode["traces"]]
