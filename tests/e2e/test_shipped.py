"""What a user has is `requirements.lock` alone: two refreshes of a library with it, and every command on what they left."""

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

from pipeline.settings import PROJECT
from tests.demo_library import publish_demo
from tests.index_server import Index, serve

pytestmark = pytest.mark.slow(minutes=4)

UV = str(Path(sys.executable).parent / "uv")
PERIODS = ("2021-03-15", "2021-06-01")


class Shipped:
    """The command of an environment with the locked requirements and nothing else."""

    def __init__(self, environment: Path, data: Path, index: Index) -> None:
        self.program, self.folder = environment / "bin" / "driftline", data.parent
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
        return done.stdout


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shipped]:
    folder = tmp_path_factory.mktemp("shipped")
    environment = folder / "environment"
    # not from the checkout, so that nothing of it is written
    source = folder / "source"
    shutil.copytree(PROJECT, source, ignore=shutil.ignore_patterns(".*", "data", "tests", "__pycache__"))
    install = [UV, "pip", "install", "-q", "--python", str(environment)]
    for command in (
        [UV, "venv", "-q", "--python", sys.executable, str(environment)],
        [*install, "--require-hashes", "-r", str(PROJECT / "requirements.lock")],
        [*install, "--no-deps", "--no-build-isolation", "--no-index", "-e", str(source)],
    ):
        subprocess.run(command, check=True, timeout=900)
    with serve(Index()) as index:
        publish_demo(index)
        made = Shipped(environment, folder / "data", index)
        for until in PERIODS:
            made("refresh", "--libraries", "demo", "--until", until)
        yield made


def test_each_period_has_a_snapshot_and_the_second_was_compared_with_the_first(shipped: Shipped) -> None:
    first, second = (shipped.snapshots / f"starter-{until}" for until in PERIODS)
    for snapshot in (first, second):
        assert json.loads(shipped("verify", str(snapshot), "--json"))["problems"] == []
    found = json.loads(shipped("compare", str(first), str(second), "--json", status=1))
    assert found["releases"]["came"] == ["demo 2.0"]
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
    table = pq.read_table(shipped.snapshots / f"starter-{PERIODS[1]}" / "data" / "completions.parquet")
    lines = [{"id": row["id"], "family": "completion", "completions": [row["answer"]]} for row in table.to_pylist()]
    predictions = shipped.folder / "predictions.jsonl"
    predictions.write_text("".join(json.dumps(line) + "\n" for line in lines))
    scores = json.loads(shipped("score", "starter", str(predictions), "--run", "--json"))["scores"]
    assert {row["mean"] for row in scores if row["metric"] in ("em", "pass") and row["k"] == 1} == {1.0}
