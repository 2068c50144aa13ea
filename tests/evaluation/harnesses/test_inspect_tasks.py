"""Inspect's own evaluation of our tasks, in an environment with its own requirements."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pipeline.core.vocabularies.families import Family
from tests.evaluation.harnesses.environments import installed
from tests.evaluation.harnesses.families import snapshot
from tests.index_server import Index, serve

pytestmark = pytest.mark.slow(minutes=4)

EVALUATION = """
import json, os, sys
import driftline
from inspect_ai import eval
from inspect_ai.model import ModelOutput, ModelUsage, get_model

name, snapshot, right = sys.argv[1:]
arguments = {"snapshot": snapshot, "view": "all"}
references = {sample.input[-1].text: sample.target for sample in getattr(driftline, name)(**arguments).dataset}


def answer(messages, tools, choice, config):
    output = ModelOutput.from_content("mockllm", references[messages[-1].text] if right == "right" else "")
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return output


model = get_model("mockllm/model", custom_outputs=answer)
(log,) = eval(f"driftline/{name}", task_args=arguments, model=model, display="none", log_dir=os.environ["LOGS"])
assert log.status == "success", log.error
scores = {score.name: [score.metrics["mean"].value, score.scored_samples] for score in log.results.scores}
print(json.dumps({"task": log.eval.task, "samples": log.eval.dataset.samples, "scores": scores}))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("inspect")


@pytest.fixture(scope="module")
def environment(folder: Path) -> Path:
    return installed(folder / "environment", "inspect")


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
            "LOGS": str(folder / "logs"),
            "SNAPSHOT": str(snapshot(folder, lock=lock)),
        }


def evaluated(environment: Path, variables: dict[str, str], family: Family, answers: str) -> Any:
    command = [str(environment / "bin" / "python"), "-c", EVALUATION, family.table, variables["SNAPSHOT"], answers]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize(
    ("family", "reward", "samples"),
    [(Family.MIGRATION, "pass", 1), (Family.PROBLEM, "pass", 1), (Family.CONTEXT, "api_f1", 1)],
)
def test_references_get_one_and_empty_answers_nothing(
    family: Family, reward: str, samples: int, environment: Path, served: dict[str, str]
) -> None:
    right, empty = (evaluated(environment, served, family, answers) for answers in ("right", "empty"))
    assert (right["task"], right["samples"]) == (f"driftline/{family.table}", samples)
    assert right["scores"][reward] == [1.0, samples]
    assert empty["scores"][reward] == [0.0, samples]
    assert {mean for mean, scored in right["scores"].values() if scored} == {1.0}
