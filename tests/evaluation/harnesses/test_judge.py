"""Verdicts for harnesses are those of `driftline score --run`, for each family."""

from __future__ import annotations

import io
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import cast

import pytest

from pipeline.core.errors import InputError
from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.evaluation import View
from pipeline.core.vocabularies.families import Family
from pipeline.core.vocabularies.scores import Metric
from pipeline.evaluation.harnesses import judge as judging
from pipeline.evaluation.harnesses.judge import Judge
from pipeline.evaluation.scores.running import Runners
from pipeline.evaluation.scores.score import score_predictions
from pipeline.evaluation.views import ALL_ROWS, TaskView
from pipeline.execution.environments.store import EnvironmentStore
from pipeline.execution.sandbox.probe import find_sandbox
from pipeline.execution.validation.rules import ValidationRules
from pipeline.execution.validation.samples.engine import Engine
from pipeline.families.repository_tasks.project_context import ProjectContext
from pipeline.families.repository_tasks.rules import RepositoryRules
from pipeline.families.repository_tasks.sdists import ProjectSources
from pipeline.index.http import Fetcher
from pipeline.snapshots.format.manifest import SnapshotError
from tests.errors import raises
from tests.evaluation.export.demo import DEMO, FILES
from tests.evaluation.export.test_harbor import Shelf
from tests.evaluation.harnesses.families import snapshot
from tests.evaluation.scores.snapshots import RULES_OF_SCORES, lines
from tests.index_server import Index, sdist, serve

MAIN = {
    Family.CONTEXT: Metric.API_F1,
    Family.CONTROLLED: Metric.API_F1,
    Family.COMPATIBILITY: Metric.RELEASES,
    Family.BLOCK_COMPLETION: Metric.ISM,
}
"""The metric of a family that has no run."""
CORRUPTED = "lines = (\n"
AT_MOST = 2
"""Tasks of a family that are answered: tests of a project take seconds."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    place = tmp_path_factory.mktemp("judge")
    with pytest.MonkeyPatch.context() as patched, serve(Index()) as index:
        patched.setenv("DRIFTLINE_DATA", str(place / "data"))
        file = index.add(DEMO, "1.0", sdist(DEMO, "1.0", FILES), "2021-06-01T12:30:00Z")
        assert file is not None
        store, sandbox = cast(EnvironmentStore, Shelf()), find_sandbox()
        validation = load(RULES / "validation.yaml", ValidationRules).model_copy(update={"repeats": 1})
        rules = load(RULES / "repository.yaml", RepositoryRules)
        sources = ProjectSources(place / "projects", Fetcher(timeout_s=10), index.simple, rules)
        runners = Runners(Engine(store, sandbox, validation), ProjectContext(sources, store, sandbox, rules))
        patched.setattr(judging, "runners_at", lambda _: runners)
        yield snapshot(place, file.sha256)


@pytest.mark.parametrize("family", Family)
def test_verdicts_are_those_of_scoring(family: Family, folder: Path) -> None:
    judge = Judge(str(folder), family, ALL_ROWS)
    asked = list(judge.questions.values())[:AT_MOST]
    answers = {each.id: (each.reference, "", CORRUPTED, f"```python\n{each.reference}\n```") for each in asked}
    told = [{"id": of, "family": family, "completions": list(texts)} for of, texts in answers.items()]
    scored = score_predictions(folder, io.BytesIO(lines(*told)), RULES_OF_SCORES, judge._runners).verdicts
    for question in asked:
        verdicts = [judge.verdict(question.id, text) for text in answers[question.id]]
        for metric, values in scored[family, question.id].items():
            of_answers: list[float | None] = [*values]
            assert [verdict.scores.get(metric) for verdict in verdicts] == (of_answers or [None] * len(verdicts))
        assert all(set(verdict.scores) <= {*question.metrics} <= {*judge.metrics} for verdict in verdicts)
        main = MAIN.get(family, Metric.PASS)
        assert judge.main == main
        expected = (1.0, 0.0, 0.0) if main in question.metrics else (None, None, None)
        assert tuple(verdict.scores.get(main) for verdict in verdicts[:3]) == expected


def test_reasoning_is_not_scored(folder: Path) -> None:
    judge = Judge(str(folder), Family.CONTEXT, ALL_ROWS)
    (question,) = judge.questions.values()
    thought = judge.verdict(question.id, f"<think>{CORRUPTED}</think>\n{question.reference}")
    assert thought == judge.verdict(question.id, question.reference)
    assert thought.scores[Metric.API_F1] == 1.0


@pytest.mark.parametrize(
    ("snapshot_name", "setting", "code"),
    [
        (None, "versicode-function", "prompt_setting_unknown"),
        ("absent", None, "snapshot_unknown"),
    ],
)
def test_what_is_wrong_is_named(folder: Path, snapshot_name: str | None, setting: str | None, code: str) -> None:
    with raises((SnapshotError, InputError), setting or "absent", code=code):
        Judge(snapshot_name or str(folder), Family.MIGRATION, ALL_ROWS, setting)


def test_a_cutoff_after_the_rows_of_a_family_is_an_error(folder: Path) -> None:
    view = TaskView(View.POST_CUTOFF, date(2020, 1, 1))
    assert Judge(str(folder), Family.MIGRATION, view).questions
    with raises(InputError, "migrations", code="cutoff_after_rows"):
        Judge(str(folder), Family.MIGRATION, TaskView(View.POST_CUTOFF, date.max))


def test_a_view_without_rows_is_an_error(folder: Path) -> None:
    with raises(SnapshotError, code="harness_no_prompts"):
        Judge(str(folder), Family.FUNCTION, TaskView(View.DISCRIMINATING))
