"""A refresh with a model on loopback: what it writes is in the snapshot, and nothing is asked or paid for twice."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from pipeline.core.rules.load import RULES
from pipeline.core.settings import PROJECT
from pipeline.core.vocabularies.drafts import DraftKind
from pipeline.lake.tables import read_parquet
from pipeline.llm.client.tally import added
from pipeline.orchestration.publishing.publish_snapshot import publish_refresh
from pipeline.orchestration.refresh import Refresh, counts_of, drafts_of, plan, run_group
from pipeline.orchestration.stages.groups import GROUPS
from pipeline.snapshots.snapshot import Published
from pipeline.snapshots.verify import verify
from tests.demo_library import publish_demo
from tests.index_server import Index, serve
from tests.model_server import KEY, ModelServer, serving

pytestmark = pytest.mark.slow(minutes=1)

DRIFTLINE = Path(sys.executable).parent / "driftline"
WRITTEN = "Take what is given, and hand back what comes of it."
NOBODY = "http://127.0.0.1:1"
# Kinds of drafts that are no texts, and what bounds them; test_model_problems.py and the tests of stages have these.
OTHERS = {
    "problem": "max_per_library",
    "migrated_code": "max_requests",
    "rename_judgement": "max_requests",
    "task_function": "max_per_library",
    "function_tests": "max_per_library",
}


def reply(params: dict[str, Any]) -> dict[str, Any]:
    """Describe everything but what hides `greet`, whose name is given away each time."""
    text = params["messages"][0]["content"]
    told = json.loads(text.removeprefix("<data>").removesuffix("</data>"))
    return {"text": json.dumps({"text": "Calls greet on it all." if "greet" in told["hidden"] else WRITTEN})}


@pytest.fixture(scope="module")
def demo() -> Iterator[Index]:
    with serve(Index()) as index:
        publish_demo(index)
        yield index


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving(ModelServer(reply)) as state:
        yield state


def rules(folder: Path, **models: Any) -> Path:
    """Rules by which a model is asked for every text, and for no code, with little patience."""
    shutil.copytree(RULES, folder)
    change(folder / "models.yaml", **{"poll_s": 0.1, "wait_s": 60, "longest_pause_s": 0.1} | models)
    for kind in ("description", "instruction"):
        change(folder / "drafts" / f"{kind}.yaml", improves=["all"])
    for kind, limit in OTHERS.items():
        change(folder / "drafts" / f"{kind}.yaml", **{limit: 0})
    return folder


def change(path: Path, **values: Any) -> None:
    path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | values))


def environment(index: Index, data: Path, rules: Path, url: str) -> dict[str, str]:
    return {
        "DRIFTLINE_INDEX_URL": index.simple,
        "DRIFTLINE_DATA": str(data),
        "DRIFTLINE_RULES": str(rules),
        "ANTHROPIC_API_KEY": KEY,
        "ANTHROPIC_BASE_URL": url,
    }


def refresh(run: str) -> Published:
    asked = Refresh(run=run, libraries=("demo",))
    for library in plan(asked):
        for group in GROUPS:
            run_group(asked, group, library)
    return publish_refresh(asked)


def set_up(monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)


def rows(published: Published, table: str) -> list[Any]:
    return read_parquet(published.path / "data" / f"{table}.parquet")


def instances(published: Published) -> dict[str, str]:
    """Return the digest of each table but the errata, which tell of earlier snapshots."""
    files = sorted(path for path in (published.path / "data").glob("*.parquet") if path.stem != "errata")
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def sent(server: ModelServer) -> Counter[str]:
    """How often each request was sent."""
    return Counter(json.dumps(params, sort_keys=True) for params in server.asked)


def test_what_a_model_writes_is_published_and_a_rebuild_from_its_answers_is_the_same(
    demo: Index, server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, data = rules(tmp_path / "rules"), tmp_path / "data"
    set_up(monkeypatch, environment(demo, data, folder, server.url))
    published = refresh("first")
    assert verify(published.path) == []
    hiding_greet, others = (
        {
            (row["description"], row["drafter"])
            for row in rows(published, "completions")
            if (row["core_token"] == "greet") is hides
        }
        for hides in (True, False)
    )
    assert hiding_greet == {("Return a friendly line for somebody.", "offline")}
    assert others == {(WRITTEN, "model")}
    flagged = {row["kind"] for row in rows(published, "flags")}
    assert "draft_rejected" in flagged
    assert {row["query_drafter"] for row in rows(published, "contexts")} == {"model"}
    drafts = drafts_of(Refresh(run="first"))
    assert drafts.spent is not None
    assert sum(tally.requests for tally in drafts.tallies.values()) == len(server.asked) == sum(sent(server).values())
    assert set(sent(server).values()) == {1}
    asked = added(drafts.tallies.values())
    assert drafts.spent.run == drafts.spent.month == asked.answers_nano_usd > 0
    assert asked.waiting == 0
    assert {DraftKind.DESCRIPTION, DraftKind.INSTRUCTION} <= drafts.tallies.keys()

    monkeypatch.setenv("DRIFTLINE_DATA", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("ANTHROPIC_BASE_URL", NOBODY)
    shutil.copytree(data / "model", tmp_path / "elsewhere" / "model")
    rebuilt = refresh("rebuilt")
    assert rebuilt.manifest_sha256 == published.manifest_sha256
    again = drafts_of(Refresh(run="rebuilt"))
    assert again.spent is not None
    remembered = added(again.tallies.values())
    assert (remembered.requests, again.spent.run, remembered.accepted) == (0, 0, asked.accepted)


def command(variables: dict[str, str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [DRIFTLINE, "refresh", "--libraries", "demo", "--json"],
        env=os.environ | variables,
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def test_a_batch_of_a_refresh_that_was_killed_is_collected_and_not_sent_again(
    demo: Index, server: ModelServer, tmp_path: Path
) -> None:
    folder = rules(tmp_path / "rules", batch_from=2)
    variables = environment(demo, tmp_path / "data", folder, server.url)
    server.looks = 10**6
    process = command(variables)
    try:
        until = time.monotonic() + 240
        while not any(batch["looks"] for batch in server.batches.values()):
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < until
            time.sleep(0.05)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    assert len(server.batches) == 1
    server.looks = 0
    process = command(variables)
    told, errors = process.communicate(timeout=400)
    assert process.returncode == 0, errors
    assert set(sent(server).values()) == {1}
    model = json.loads(told)["drafts"]["model"]
    first = next(iter(server.batches.values()))["requests"]
    assert model["requests"] == len(server.asked) - len(first)
    assert (model["waiting"], model["retries"]) == (0, 0)
    assert model["accepted"] > 0


def test_where_money_ends_the_refresh_is_whole_and_later_ones_go_on(
    demo: Index, server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = rules(tmp_path / "rules", run_usd=0.001, batch_from=1000)
    variables = environment(demo, tmp_path / "data", folder, server.url)
    set_up(monkeypatch, variables)
    published = refresh("run 0")
    assert verify(published.path) == []
    first = drafts_of(Refresh(run="run 0"))
    assert first.spent is not None
    asked = added(first.tallies.values())
    assert asked.waiting > 0
    assert "run_usd" in (asked.stopped or "")
    assert 0 < first.spent.run <= 1_000_000
    assert {row["drafter"] for row in rows(published, "completions")} == {"model", "offline"}
    assert all(count.units_in == count.units_out + sum(count.rejected.values()) + count.unchanged
               for count in counts_of(Refresh(run="run 0")))  # fmt: skip
    process = command(variables)
    told, errors = process.communicate(timeout=400)
    model = json.loads(told)["drafts"]["model"]
    assert process.returncode == 0, "waiting is no failure"
    assert errors.splitlines()[:1] == ["refresh"], errors
    assert "error:" not in errors
    assert 0 < model["waiting"] < asked.waiting
    for number in range(1, 30):
        published = refresh(f"run {number}")
        later = drafts_of(Refresh(run=f"run {number}"))
        assert later.spent is not None
        assert later.spent.run <= 1_000_000
        if not added(later.tallies.values()).waiting:
            break
    assert set(sent(server).values()) == {1}

    monkeypatch.setenv("DRIFTLINE_DATA", str(tmp_path / "at once"))
    change(folder / "models.yaml", run_usd=2)
    assert instances(refresh("at once")) == instances(published)
