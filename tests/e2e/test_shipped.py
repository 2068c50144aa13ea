"""What a user has is `requirements.lock` alone: two refreshes of a library with it, and every command on what they left.

Whoever only evaluates has `requirements-eval.lock`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from pipeline.core.settings import PROJECT
from pipeline.core.vocabularies.families import Family
from tests.chat_server import serving_chat
from tests.demo_library import publish_demo
from tests.evaluation.scores.references import write_predictions
from tests.index_server import Index, serve
from tests.model_server import KEY

pytestmark = pytest.mark.slow(minutes=4)

UV = str(Path(sys.executable).parent / "uv")
OF_DEMO = {Family.COMPLETION, Family.COMPATIBILITY, Family.CONTEXT, Family.CONTROLLED, Family.MIGRATION}
"""The families that the demo library has rows of; of the others `test_real_libraries` scores the references."""

PERIODS = ("2021-03-15", "2021-06-01")


class Shipped:
    """The command of an environment with the locked requirements and nothing else."""

    def __init__(self, environment: Path, source: Path, data: Path, index: Index) -> None:
        self.program, self.source, self.folder = environment / "bin" / "driftline", source, data.parent
        self.index = index
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("DRIFTLINE_", "PYTHON"))}
        self.variables = kept | {"DRIFTLINE_DATA": str(data), "DRIFTLINE_INDEX_URL": index.simple}
        self.snapshots = data / "snapshots" / "starter"

    def __call__(self, *words: str, status: int = 0) -> str:
        command = [str(self.program), *words]
        done = subprocess.run(
            command, cwd=self.folder, env=self.variables, capture_output=True, text=True, check=False, timeout=900
        )
        assert "Traceback" not in done.stderr, done.stderr
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout if not status else done.stdout + done.stderr


def installed(environment: Path, lock: str, source: Path) -> Path:
    install = [UV, "pip", "install", "-q", "--python", str(environment)]
    for command in (
        [UV, "venv", "-q", "--python", sys.executable, str(environment)],
        [*install, "--require-hashes", "-r", str(PROJECT / lock)],
        [*install, "--no-deps", "--no-build-isolation", "--no-index", "-e", str(source)],
    ):
        subprocess.run(command, check=True, timeout=900)
    return environment


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shipped]:
    folder = tmp_path_factory.mktemp("shipped")
    # not from the checkout, so that nothing of it is written
    source = folder / "source"
    shutil.copytree(PROJECT, source, ignore=shutil.ignore_patterns(".*", "data", "tests", "__pycache__"))
    with serve(Index()) as index:
        publish_demo(index)
        made = Shipped(installed(folder / "environment", "requirements.lock", source), source, folder / "data", index)
        for until in PERIODS:
            made("refresh", "--libraries", "demo", "--until", until)
        yield made


def test_each_period_has_a_snapshot_and_the_second_was_compared_with_the_first(shipped: Shipped) -> None:
    first, second = (shipped.snapshots / f"starter-{until}" for until in PERIODS)
    for snapshot in (first, second):
        assert json.loads(shipped("verify", str(snapshot), "--json"))["problems"] == []
    found = json.JSONDecoder().raw_decode(shipped("compare", str(first), str(second), "--json", status=1))[0]
    assert found["releases"]["added"] == ["demo 2.0"]
    times = found["columns"]["releases"]["release_time"]
    assert (times["old"]["most"], times["new"]["most"]) == ("2021-03-01 00:00:00+00:00", "2021-04-01 00:00:00+00:00")


COMMANDS = {
    "report": ("report", "--out", "report.html"),
    "export": ("export", "starter", "--format", "versicode", "--out", "versicode"),
    "prompts": ("prompts", "starter", "--setting", "versicode-completion", "--out", "prompts.jsonl"),
    "survive": ("survive", "starter", "--share", "1"),
    "review export": ("review", "export", "reviews.jsonl"),
    "drafts": ("drafts", "--libraries", "demo"),
    "history": ("history", "demo", "demo.make_loud"),
    "diff": ("diff", "demo", "1.2", "2.0"),
    "evolution": ("evolution", "demo"),
}


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS.keys())
def test_a_command_does_its_work(shipped: Shipped, words: tuple[str, ...]) -> None:
    shipped(*words)


def test_references_are_scored_as_right(shipped: Shipped) -> None:
    predictions = shipped.folder / "predictions.jsonl"
    written = write_predictions(shipped.snapshots / f"starter-{PERIODS[1]}", predictions)
    assert {family for family, rows in written.items() if rows} == OF_DEMO
    found = json.loads(shipped("score", "starter", str(predictions), "--run", "--json"))
    assert {row["mean"] for row in found["scores"]} - {None} == {1.0}


def test_whoever_only_evaluates_needs_no_airflow(shipped: Shipped, tmp_path: Path) -> None:
    """The commands of the card, in an environment without Airflow and with a data folder of its own."""
    environment = installed(tmp_path / "environment", "requirements-eval.lock", shipped.source)
    assert not [*environment.glob("lib/*/site-packages/airflow*")]
    evaluating = Shipped(environment, shipped.source, tmp_path / "data", shipped.index)
    snapshot = str(shipped.snapshots / f"starter-{PERIODS[1]}")
    setting = ("--setting", "versicode-completion", "--view", "all")
    evaluating("prompts", snapshot, *setting, "--out", "prompts.jsonl")
    prompts = [json.loads(line) for line in (tmp_path / "prompts.jsonl").read_text().splitlines()]
    answers = {row["id"]: row["answer"] for row in pq.read_table(f"{snapshot}/data/completions.parquet").to_pylist()}
    by_prompt = {prompt["prompt"]: answers[prompt["id"]] for prompt in prompts}
    with serving_chat(by_prompt.__getitem__) as server:
        evaluating.variables["OPENAI_API_KEY"] = KEY
        options = ("--model", "m1", "--endpoint", server.openai, "--out", "first", "--json")
        first = json.loads(evaluating("evaluate", snapshot, *setting, *options))
    assert {row["mean"] for row in first["scores"]} - {None} == {1.0}
    assert first["runs"]
    evaluating("score", snapshot, "first/predictions.jsonl", "--run", "--out", "second")
    evaluating("compare-scores", "first", "second")
    evaluating("export", snapshot, "--format", "versicode", "--out", "versicode")
    assert (tmp_path / "first" / "scores.svg").is_file()
    assert "extra `refresh`" in evaluating("refresh", "--libraries", "demo", status=2)


def test_a_new_column_is_filled_by_the_next_refresh_of_the_same_period(shipped: Shipped) -> None:
    """The last test, since it changes what the others run."""
    column = '  - {name: answer_length, type: int64, nullable: true, meaning: "characters of the answer"}'
    for name, line, added in (
        ("schemas/completions.yaml", "columns:", column),
        (
            "pipeline/families/completions_and_migrations/completions.py",
            '        "answer": masked.answer,',
            '"answer_length": len(masked.answer),',
        ),
    ):
        path = shipped.source / name
        assert path.read_text().count(f"{line}\n") == 1
        path.write_text(path.read_text().replace(f"{line}\n", f"{line}\n{added}\n"))
    done = json.loads(shipped("refresh", "--libraries", "demo", "--until", PERIODS[1], "--json"))
    again = {stage["stage"] for stage in done["stages"] if stage["units_out"]}
    assert again >= {"instances", "acceptance"}
    assert not again & {"surface", "lifecycle", "snippets", "usage", "problems", "functions"}
    rows = pq.read_table(Path(done["snapshot"]["path"]) / "data" / "completions.parquet").to_pylist()
    assert [row["answer_length"] for row in rows] == [len(row["answer"]) for row in rows] != []
