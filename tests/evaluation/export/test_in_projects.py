"""Tasks and scenes of a file, run in their project with its own tests."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.exports import ExportFormat
from pipeline.core.vocabularies.running import Outcome
from pipeline.evaluation.export.folder import export
from pipeline.evaluation.export.format import ExportError, Unpack
from pipeline.evaluation.export.in_projects import validate_in_projects
from pipeline.execution.environments.store import EnvironmentStore
from pipeline.execution.sandbox.environment import Environment
from pipeline.execution.sandbox.probe import find_sandbox
from pipeline.execution.validation.samples.validate import Summary
from pipeline.execution.validation.samples.verdict_file import NoVerdicts, Verdict, read_verdicts
from pipeline.families.repository_tasks.project_context import ProjectContext
from pipeline.families.repository_tasks.rules import RepositoryRules
from pipeline.families.repository_tasks.sdists import ProjectSources
from pipeline.index.http import Fetcher
from tests.errors import raises
from tests.evaluation.export.ready import Ready
from tests.evaluation.export.restore import records
from tests.evaluation.export.test_records import write
from tests.index_server import Index


@pytest.fixture
def project_context(environment: Environment, index: Index, tmp_path: Path) -> ProjectContext:
    rules = load(RULES / "repository.yaml", RepositoryRules)
    sources = ProjectSources(tmp_path / "projects", Fetcher(timeout_s=10), index.simple, rules)
    return ProjectContext(sources, cast(EnvironmentStore, Ready(environment)), find_sandbox(), rules)


Validate = Callable[..., tuple[Summary, list[Verdict]]]


@pytest.fixture
def validate(project_context: ProjectContext, tmp_path: Path) -> Validate:
    def run(
        path: Path, wanted: ExportFormat, answers: Path | None = None, again: bool = False
    ) -> tuple[Summary, list[Verdict]]:
        out, tell = tmp_path / "verdicts.jsonl", lambda *_: None
        summary = validate_in_projects(path, wanted, out, project_context, tell, answers, again=again, restart=False)
        return summary, list(read_verdicts(out))

    return run


def answered(path: Path, field: str, *answers: str | None) -> Path:
    """The only record of a file, once with each answer."""
    (record,) = records(path.parent, path.name)
    return write(path, *(record | ({} if answer is None else {field: answer}) for answer in answers))


TASKS = [
    (None, Outcome.PASSED),
    ("        self.count = min(self.count + number, 3)\n        return self.count", Outcome.PASSED),
    ("self.count = min(self.count + number, 3)\nreturn self.count\n", Outcome.PASSED),
    ("        raise NotImplementedError\n", Outcome.FAILED_ASSERTION),
    ("        return (\n", Outcome.SYNTAX_ERROR),
]
SCENES = [
    (None, Outcome.PASSED),
    ("    number = min(number, most)\n", Outcome.PASSED),
    ("    return -1\n", Outcome.FAILED_ASSERTION),
]
SCENE = "prompts/prefix_suffix_full_complete_current_block_no_evidence.jsonl"


@pytest.mark.parametrize(
    ("wanted", "file", "field", "cases"),
    [
        (ExportFormat.EVOCODEBENCH, "data.jsonl", "completion", TASKS),
        (ExportFormat.CODEVBENCH, SCENE, "response", SCENES),
    ],
)
def test_answers_are_judged_by_the_tests_of_the_project(
    wanted: ExportFormat,
    file: str,
    field: str,
    cases: Any,
    validate: Validate,
    snapshot: Path,
    sources: Unpack,
    tmp_path: Path,
) -> None:
    export(snapshot, wanted, tmp_path / "out", sources)
    path = answered(tmp_path / "out" / file, field, *(answer for answer, _ in cases))
    summary, verdicts = validate(path, wanted)
    assert [verdict.outcome for verdict in verdicts] == [outcome for _, outcome in cases]
    assert sum(summary.outcomes.values()) == len(cases)
    assert {(one.library, one.version, one.python, one.lock_id) for one in verdicts} == {
        ("demo", "1.0", "3.11", "lock")
    }
    assert [verdict.line for verdict in verdicts] == [*range(1, len(cases) + 1)]
    again, same = validate(path, wanted)
    assert (again.reused, again.environments) == (len(cases), 0)
    assert same == verdicts


def test_answers_in_a_file_of_their_own(validate: Validate, snapshot: Path, sources: Unpack, tmp_path: Path) -> None:
    export(snapshot, ExportFormat.EVOCODEBENCH, tmp_path / "out", sources)
    name, path = "demo.counting.Counter.add", tmp_path / "out" / "data.jsonl"
    answers = write(
        tmp_path / "a.jsonl", *({"namespace": name, "completion": code} for code, _ in (TASKS[1], TASKS[3]))
    )
    _, verdicts = validate(path, ExportFormat.EVOCODEBENCH, answers)
    found = [(verdict.id, verdict.outcome) for verdict in verdicts]
    assert found == [(f"{name}#1", Outcome.PASSED), (f"{name}#2", Outcome.FAILED_ASSERTION)]


def test_what_cannot_be_run_gets_a_verdict_too(
    validate: Validate, snapshot: Path, sources: Unpack, tmp_path: Path
) -> None:
    export(snapshot, ExportFormat.EVOCODEBENCH, tmp_path / "out", sources)
    (good,) = records(tmp_path / "out", "data.jsonl")
    bad: list[Any] = [
        {"namespace": "a"},
        good | {"body_position": [3]},
        good | {"tests": []},
        good | {"completion_path": "demo-9.0/demo/counting.py"},
        good | {"completion_path": good["completion_path"].replace("counting", "nothing")},
        good | {"tests": ["tests/test_counting.py::test_nothing"]},
    ]
    _, verdicts = validate(write(tmp_path / "out" / "data.jsonl", *bad), ExportFormat.EVOCODEBENCH)
    assert [(verdict.outcome, (verdict.detail or "")[:60]) for verdict in verdicts] == [
        (Outcome.BAD_SAMPLE, "record 1: completion_path, body_position, tests: missing; co"),
        (Outcome.BAD_SAMPLE, "record 2: body_position: [3] does not fit; give the first an"),
        (Outcome.BAD_SAMPLE, "record 3: demo.counting.Counter.add: no tests, or some that "),
        (Outcome.NO_ENVIRONMENT, "record 4: projects.jsonl has no project in demo-9.0; add its"),
        (Outcome.BAD_SAMPLE, "record 5: demo has no Python file demo/nothing.py; correct i"),
        (Outcome.WRONG_EXCEPTION, "tests/test_counting.py::test_nothing: not_run"),
    ]


def test_a_silent_index_is_told_and_tried_again(
    validate: Validate, snapshot: Path, sources: Unpack, project_context: ProjectContext, index: Index, tmp_path: Path
) -> None:
    export(snapshot, ExportFormat.EVOCODEBENCH, tmp_path / "out", sources)
    shutil.rmtree(project_context.sources.root)
    known = index.projects.pop("demo")
    (verdict,) = validate(tmp_path / "out" / "data.jsonl", ExportFormat.EVOCODEBENCH)[1]
    assert verdict.outcome is Outcome.NO_ENVIRONMENT
    index.projects["demo"] = known
    (verdict,) = validate(tmp_path / "out" / "data.jsonl", ExportFormat.EVOCODEBENCH, again=True)[1]
    assert verdict.outcome is Outcome.PASSED


@pytest.mark.parametrize(
    ("lines", "name", "code"),
    [
        (None, "projects.jsonl", "records_without_projects"),
        ("{}", "line 1", "projects_file_invalid"),
        ('{"folder": "a/b"}', "line 1", "projects_file_invalid"),
    ],
)
def test_without_projects(lines: str | None, name: str, code: str, validate: Validate, tmp_path: Path) -> None:
    if lines is not None:
        (tmp_path / "projects.jsonl").write_text(lines)
    with raises(ExportError, name, code=code):
        validate(write(tmp_path / "data.jsonl", {}), ExportFormat.EVOCODEBENCH)


def test_a_file_of_something_else_is_not_taken_for_verdicts(
    validate: Validate, snapshot: Path, sources: Unpack, tmp_path: Path
) -> None:
    export(snapshot, ExportFormat.EVOCODEBENCH, tmp_path / "out", sources)
    (tmp_path / "verdicts.jsonl").write_text(json.dumps({"mine": 1}) + "\n")
    with raises(NoVerdicts, code="verdicts_unreadable"):
        validate(tmp_path / "out" / "data.jsonl", ExportFormat.EVOCODEBENCH)
