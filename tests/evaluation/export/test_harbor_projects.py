"""Harbor's tasks in projects: their scripts are run without an engine, and their verdicts are those of scoring."""

from __future__ import annotations

import json
import tarfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from pipeline.core.progress import no_progress
from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.exports import ExportFormat, Unsupported
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.scenes import Scene
from pipeline.core.vocabularies.scores import Metric
from pipeline.evaluation.export.artifacts import answered_in, whole_file
from pipeline.evaluation.export.folder import ExportSummary, export
from pipeline.evaluation.export.format import NothingExported, Unpack
from pipeline.evaluation.export.projects import SourcesMissing
from pipeline.evaluation.scores import running
from pipeline.evaluation.scores.planning import Sources
from pipeline.evaluation.scores.running import Runners
from pipeline.evaluation.scores.runs import RunFile
from pipeline.evaluation.scores.tasks import read_tasks
from pipeline.execution.environments.resolution.pinned import lock_id_of
from pipeline.execution.environments.store import EnvironmentStore
from pipeline.execution.sandbox.environment import Environment
from pipeline.execution.sandbox.probe import find_sandbox
from pipeline.execution.validation.rules import ValidationRules
from pipeline.execution.validation.samples.engine import Engine
from pipeline.families.repository_tasks.project_context import ProjectContext
from pipeline.families.repository_tasks.rules import RepositoryRules
from pipeline.families.repository_tasks.sdists import ProjectSources
from pipeline.index.http import Fetcher
from pipeline.snapshots.format.reader import Snapshot
from tests.errors import raises
from tests.evaluation.export.containers import Containers
from tests.evaluation.export.demo import FILES, SOURCE, project, scene, task
from tests.evaluation.export.ready import Ready
from tests.evaluation.export.rows import snapshot_of
from tests.families.completions_and_migrations.rows import releases
from tests.index_server import Index

SCENES = (Scene.NOTHING_BELOW, Scene.COMPLETE_BLOCK)
ANSWERS = {
    Family.REPOSITORY_TASK: [
        "        self.count = min(LIMIT, self.count + number)\n        return self.count\n",
        "        pass\n\nclip = max\n",
    ],
    Family.SCENE: [
        "    number = min(number, most)\n",
        "    return most\n\nimport os\n",
    ],
}
"""Right and wrong answers beside references and empty ones."""


@pytest.fixture
def runners(demo: str, index: Index, environment: Environment, tmp_path: Path) -> Iterator[Runners]:
    store, sandbox = cast(EnvironmentStore, Ready(environment)), find_sandbox()
    if not sandbox.two_users:
        pytest.skip("a verifier runs as root, and no namespaces for that can be made here")
    rules = load(RULES / "repository.yaml", RepositoryRules)
    sources = ProjectSources(tmp_path / "projects", Fetcher(timeout_s=10), index.simple, rules)
    engine = Engine(store, sandbox, load(RULES / "validation.yaml", ValidationRules))
    of_tests = Runners(engine, ProjectContext(sources, store, sandbox, rules))
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("DRIFTLINE_DATA", str(tmp_path / "data"))
        patched.setattr(running, "runners_at", lambda _: of_tests)
        yield of_tests


@pytest.fixture
def snapshot(demo: str, tmp_path: Path) -> Path:
    """A snapshot with a repository task and scenes of the demo project."""
    lock = project(demo)["lock"]
    rows = {
        "releases": releases("1.0", "2.0"),
        "projects": [project(demo, lock_id=lock_id_of("3.11", lock))],
        "published_repository_tasks": [task(canary="the canary of these tests")],
        "published_scenes": [scene(kind) | {"canary": "the canary of these tests"} for kind in SCENES],
    }
    return snapshot_of(rows, tmp_path)


@pytest.fixture
def written(snapshot: Path, sources: Unpack, tmp_path: Path) -> ExportSummary:
    return export(snapshot, ExportFormat.HARBOR, tmp_path / "out", sources)


def rows_in(snapshot: Path, out: Path) -> dict[str, tuple[Path, Family, Any]]:
    """The folder, the family and the row of each task by the id of the row."""
    reader = Snapshot(snapshot)
    rows = {row["id"]: row for table in ("repository_tasks", "scenes") for row in reader.rows(table)}
    records = [json.loads(line) for line in (out / "tasks.jsonl").read_text().splitlines()]
    return {one["id"]: (out / one["task"], Family(one["family"]), rows[one["id"]]) for one in records}


def test_rewards_are_the_verdicts_of_scoring(
    written: ExportSummary, snapshot: Path, runners: Runners, environment: Environment, tmp_path: Path
) -> None:
    assert written.refused == {("scenes", Unsupported.EMPTY_PASSES): 1}  # nothing is missing in it
    tasks = rows_in(snapshot, tmp_path / "out")
    assert len(tasks) == 2
    reader, rewards = Snapshot(snapshot), dict[str, list[float]]()
    for of, (folder, family, row) in tasks.items():
        oracle = Containers(folder, tmp_path / f"{of}-oracle", environment)
        oracle.oracle()
        untouched = Containers(folder, tmp_path / f"{of}-untouched", environment)
        assert [oracle.verify()[0], untouched.verify()[0]] == ["1", "0"], of
        for number, answer in enumerate(ANSWERS[family]):
            trial = Containers(folder, tmp_path / f"{of}-{number}", environment)
            trial.answer(answered_in(family, row, SOURCE, answer))
            rewards.setdefault(of, []).append(float(trial.verify()[0] or "nan"))
    samples = {(family, of): ANSWERS[family] for of, (_, family, _) in tasks.items()}
    of_snapshot = read_tasks(reader, (), running=True), Sources.read(reader, None)
    passes = running.run_samples(samples, *of_snapshot, runners, RunFile(None, None), no_progress)
    assert rewards == {of: values[Metric.PASS] for (_, of), values in passes.scores.items()}
    assert {value for values in rewards.values() for value in values} == {0.0, 1.0}


def test_an_agent_gets_the_project_without_the_answer(written: ExportSummary, snapshot: Path, tmp_path: Path) -> None:
    for folder, family, row in rows_in(snapshot, tmp_path / "out").values():
        with tarfile.open(folder / "environment" / "project.tar.gz") as archive:
            files = {name: member.read() for name in archive.getnames() if (member := archive.extractfile(name))}
        assert {*FILES, "pytest.ini"} <= files.keys()
        hidden = row["reference"] if family is Family.REPOSITORY_TASK else row["middle"]
        seen = b"".join(files.values()) + (folder / "instruction.md").read_bytes()
        assert hidden.strip().encode() not in seen
        image = (folder / "environment" / "Dockerfile").read_text()
        # The project's own build is undone in the layer that makes it.
        [build] = [line for line in image.splitlines() if "/opt/built" in line]
        assert build.startswith("RUN uv pip install")
        assert build.endswith("rm -rf /opt/built")
        assert tomllib.loads((folder / "task.toml").read_text())["artifacts"] == ["/app/demo/counting.py"]


def test_a_project_without_sources_is_refused(snapshot: Path, runners: Runners, tmp_path: Path) -> None:
    def gone(row: Any) -> None:
        raise SourcesMissing("demo-1.0.tar.gz: it was deleted")

    with raises(NothingExported, code="export_nothing_supported"):
        export(snapshot, ExportFormat.HARBOR, tmp_path / "out", cast(Unpack, gone))


@pytest.mark.parametrize("end", ["", "\n"])
def test_what_a_scene_hides_is_put_back(end: str) -> None:
    assert (
        whole_file(f"a = 1\nb = 2\nc{end}", "a = 1\n", "c\n", "hidden\nc\n", is_body=False)
        == "a = 1\nb = 2\nhidden\nc\n"
    )
    assert whole_file("other", "a = 1\n", "c\n", "hidden", is_body=False) == "other"
